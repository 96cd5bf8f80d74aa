/** A path that no route has. */
const UNROUTABLE = '/-';

/**
 * The path and query for routing, also of an absolute-form target (RFC 9112 §3.2.2). A target to which Fastify's router
 * itself would respond, before any hook, gets a path that no route has.
 */
export function routableUrl({ url: target = '' }: { url?: string | undefined }): string {
  const url = target.startsWith('/') ? target : originForm(target);
  const path = pathOf(url);
  const isRoutable = path.startsWith('/') && !path.includes('//') && (!path.endsWith('/') || path === '/');
  return isRoutable && isDecodable(path) ? url : UNROUTABLE;
}

/** The path and query of a target, also of one in absolute form. */
export function originForm(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*/i, '');
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
