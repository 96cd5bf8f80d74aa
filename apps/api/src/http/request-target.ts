/** The path for targets that no route can match. Only the catch-all route is there. */
const UNROUTABLE = '/-';

/**
 * The path and query to use for routing. The path of an absolute-form target is used (RFC 9112 §3.2.2). A target that
 * Fastify's router would answer itself, before any guard, is sent to the catch-all instead.
 */
export function routableUrl(target: string): string {
  const url = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const path = pathOf(url);
  const isRoutable = path.startsWith('/') && !path.includes('//') && (!path.endsWith('/') || path === '/');
  return isRoutable && isDecodable(path) ? url : UNROUTABLE;
}

export function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}

export function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

export function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
