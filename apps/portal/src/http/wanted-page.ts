import type { FastifyReply } from 'fastify';
import { cookieName, takeCookie } from './cookies.js';
import { pathHere } from './paths.js';

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
