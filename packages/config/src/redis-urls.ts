import { url } from './environment.js';

const readUrl = url('redis', 'rediss');

/**
 * The URL of each address, in their order. Those after the first may be `host:port` alone, for example
 * `redis://:password@a,b:6380`.
 *
 * @throws Error if one is not a URL of Redis, or if they differ in more than host and port.
 */
export function redisUrls(text: string): readonly string[] {
  const [first = '', ...others] = text.split(',').map((each) => each.trim());
  const [start = ''] = /^.*(?:@|:\/\/)/.exec(readUrl(first)) ?? [];
  const list = [first, ...others.map((each) => (each.includes('://') ? readUrl(each) : start + each))];
  if (!list.every(isAddress))
    throw new Error('must be like redis://:PASSWORD@redis-1:6379,redis-2:6379, with %2C for a comma in the password');
  const urls = list.map((each) => new URL(each));
  if (new Set(urls.map(({ protocol, username, password }) => `${protocol}${username}:${password}`)).size > 1)
    throw new Error('must have one protocol, user and password for all addresses');
  if (urls.length > 1 && urls.some(({ pathname }) => !['', '/', '/0'].includes(pathname)))
    throw new Error('must not name a database if it has several addresses');
  return list;
}

function isAddress(text: string): boolean {
  try {
    const { hostname, username, password } = new URL(text);
    decodeURIComponent(username + password);
    return hostname !== '';
  } catch {
    return false;
  }
}
