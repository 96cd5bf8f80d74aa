/** A path that only the catch-all route matches. */
const UNROUTABLE = '/-';

/**
 * The path and query for routing, also of an absolute-form target (RFC 9112 §3.2.2). A target to which Fastify's router
 * itself would respond, before any guard, gets the path of the catch-all instead.
 */
export function routableUrl({ url: target = '' }: { url?: string | undefined }): string {
  const url = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const path = pathOf(url);
  const isRoutable = path.startsWith('/') && !path.includes('//') && (!path.endsWith('/') || path === '/');
  return isRoutable && isDecodable(path) ? url : UNROUTABLE;
}

/** Whether a target, also in absolute form, is of the API and not of a page beside it. */
export function isOfApi(target: string): boolean {
  return /^(?:https?:\/\/[^/?#]*)?\/v1(?:[/?#]|$)/.test(target);
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
