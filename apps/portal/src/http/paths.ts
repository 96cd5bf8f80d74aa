import type { FastifyRequest } from 'fastify';

/** The path, if it leads to a page of this portal as browsers resolve it. It may come from a cookie or a form of another site. */
export function pathHere(text: string): string | undefined {
  const here = 'http://portal.invalid';
  if (!text.startsWith('/') || !URL.canParse(text, here)) return undefined;
  const { origin, pathname, search } = new URL(text, here);
  return origin === here && !pathname.startsWith('//') ? pathname + search : undefined;
}

/** The address of the requested page; for a form, that of the page around it. A target may begin with another host. */
export function pageOf({ method, url }: Pick<FastifyRequest, 'method' | 'url'>): string {
  return pathHere(method === 'POST' ? `/${url.split('/')[1] ?? ''}` : url) ?? '/';
}
