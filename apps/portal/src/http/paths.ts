import type { FastifyRequest, FastifyReply } from 'fastify';
import { cookieName, takeCookie } from './cookies.js';

/** The path, if browsers resolve it to a page of this portal. The text may come from another site. */
function pathHere(text: string): string | undefined {
  const here = 'http://portal.invalid';
  if (!text.startsWith('/') || !URL.canParse(text, here)) return undefined;
  const { origin, pathname, search } = new URL(text, here);
  return origin === here && !pathname.startsWith('//') ? pathname + search : undefined;
}

/** The address of the requested page, or of the page that has the sent form. A request may name another host. */
export function pageOf({ method, originalUrl: url }: Pick<FastifyRequest, 'method' | 'originalUrl'>): string {
  return pathHere(method === 'POST' ? `/${url.split('/')[1] ?? ''}` : url) ?? '/';
}

const COOKIE = 'next';
const MAX_AGE = 600;
const FIRST_PAGE = '/keys';

/** Signing in leads to that page. */
export function wantPage(reply: FastifyReply, path: string): void {
  reply.setCookie(cookieName(reply.request, COOKIE), path, { maxAge: MAX_AGE });
}

export function takeWantedPage(reply: FastifyReply): string {
  return pathHere(takeCookie(reply, COOKIE) ?? '') ?? FIRST_PAGE;
}
