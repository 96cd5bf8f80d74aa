import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { mailboxAddress, readScopes, type Scopes, SCOPES } from '@adoption-store/domain';
import { parse } from 'pg-connection-string';
import { url, urlText } from './environment.js';

/**
 * What a raw character of a password hides: the host behind it. Such a URL leads elsewhere, with a part of the password
 * for a host, a port or a path, which messages may show.
 */
const RAW = /[\s#]|%(?![\da-f]{2})|^[a-z]+:\/\/[^/?]*[/?].*@/i;
/** A part of the query that is no parameter. */
const NO_PARAMETER = /^[^?]*\?(.*&)?[^=&]+(&|$)/;

const readDatabaseUrl = urlText('postgres', 'postgresql');

/** A list of hosts, as libpq allows it, is refused, because pg can't search it for the primary. */
export function databaseUrl(text: string): string {
  readDatabaseUrl(text);
  if (RAW.test(text) || NO_PARAMETER.test(text)) throw new Error(DATABASE_RULE);
  const [, authority = '', query = ''] = /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]*)[^?]*(.*)$/.exec(text) ?? [];
  const params = new URLSearchParams(query);
  if ([authority, params.get('host'), params.get('port')].some((part) => part?.includes(',')))
    throw new Error('must have one host: an address that leads to the primary');
  if (!/^\d{0,5}$/.test(parsedAsByPg(text).port ?? '')) throw new Error(DATABASE_RULE);
  return text;
}

const DATABASE_RULE =
  'must be like postgres://USER:PASSWORD@HOST:5432/DATABASE, with %23 for a # in the password, and so on';

/** Parses the URL as pg does, which also opens the certificate files that it names. */
function parsedAsByPg(text: string) {
  try {
    return parse(text);
  } catch (error) {
    const { code = '', syscall } = error as NodeJS.ErrnoException;
    throw new Error(
      syscall === undefined ? DATABASE_RULE : `must name files of certificates that can be read (${code})`,
      { cause: error },
    );
  }
}

const readRedisUrl = urlText('redis', 'rediss');

/** The URL of each node in `redis://:password@a,b:6380`. Only a URL with a single node may name a database. */
export function redisUrls(text: string): readonly string[] {
  const [first = '', ...others] = text.split(',').map((each) => each.trim());
  const [start = ''] = /^.*(?:@|:\/\/)/.exec(readRedisUrl(first)) ?? [];
  const list = [first, ...others.map((node) => start + node)];
  const differ = others.length > 0 && /[/@]/.test([first.slice(start.length), ...others].join());
  if (differ || !list.every(isRedisUrl))
    throw new Error(
      'must be like redis://:PASSWORD@redis-1:6379,redis-2:6379, with %2C for a comma in the password, and so on',
    );
  return list;
}

function isRedisUrl(text: string): boolean {
  try {
    const { hostname, username, password, pathname } = new URL(text);
    decodeURIComponent(username + password);
    return hostname !== '' && /^\/?\d*$/.test(pathname) && !RAW.test(text);
  } catch {
    return false;
  }
}

const readMailUrl = url('smtp', 'smtps');

export function mailUrl(text: string): string {
  if (RAW.test(text))
    throw new Error('must be like smtps://USER:PASSWORD@HOST:465, with %23 for a # in the password, and so on');
  return readMailUrl(text);
}

/** Not a name whose last part is a number, because URL parsers read it as an IPv4 address. */
const HOST_NAME =
  /^(?=.{1,253}$)(?!(?:.*\.)?\d+$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

export function hostName(text: string): string {
  if (isIP(text) === 0 && !HOST_NAME.test(text)) throw new Error('must be a host name or an IP address');
  return text;
}

function origin(text: string): string {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || /[?#]/.test(text) || parsed.username + parsed.password !== '')
    throw new Error('must be a URL that starts with http:// or https://, without query or fragment');
  return (parsed.origin + parsed.pathname).replace(/\/+$/, '');
}

/** The API's address, to which clients and links add `/v1`. */
export function apiUrl(text: string): string {
  const address = origin(text);
  if (/\/v1$/i.test(address)) throw new Error('must be the address without /v1, which is added to it');
  return address;
}

/** The portal's address. It can't have a path, because the portal's links begin at the root of the host. */
export function portalUrl(text: string): string {
  const address = origin(text);
  if (new URL(address).pathname !== '/') throw new Error('must be an address without a path');
  return address;
}

const readCollectorUrl = url('http', 'https');

/** The collector's address, to which OpenTelemetry adds `/v1/traces`. */
export function collectorUrl(text: string): string {
  const address = readCollectorUrl(text);
  if (/[?#]/.test(address) || /\/v1\/traces\/*$/.test(address))
    throw new Error('must be an address without query, fragment and /v1/traces, which is added to it');
  return address;
}

/** Origins as browsers send them. */
export function origins(text: string): '*' | readonly string[] {
  if (text === '*') return text;
  if (text === 'none') return [];
  const list = text.split(',').map((each) => each.trim());
  if (!list.every(isOrigin))
    throw new Error('must be *, none, or origins such as https://shop.example.com, with commas between them');
  return list.map((each) => new URL(each).origin);
}

function isOrigin(text: string): boolean {
  return /^https?:\/\/[^/?#@*]+\/?$/.test(text) && URL.canParse(text);
}

export function contact(text: string): string {
  const page = URL.canParse(text) ? new URL(text) : undefined;
  if (page?.protocol === 'https:') return page.href;
  const address = mailboxAddress(text, domainToASCII);
  if (address === undefined) throw new Error('must be an e-mail address or a URL that starts with https://');
  return address;
}

/** By IP version. */
const LONGEST_PREFIXES: Readonly<Record<number, number>> = { 4: 32, 6: 128 };

export function networks(text: string): readonly string[] {
  const list = text.split(',').map((each) => each.trim());
  if (!list.every(isNetwork))
    throw new Error('must be addresses or networks, such as 10.0.0.0/8, with commas between them');
  return list;
}

/** A network of all addresses is refused (also by Fastify), as every client could pretend to have any address. */
export function proxies(text: string): readonly string[] {
  const list = networks(text);
  if (list.some((each) => /\/0+$/.test(each)))
    throw new Error('must be the networks of your own proxies, not all addresses (/0)');
  return list;
}

function isNetwork(text: string): boolean {
  const [address = '', prefix = '0', ...rest] = text.split('/');
  const longest = LONGEST_PREFIXES[isIP(address)];
  return longest !== undefined && rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= longest;
}

export function secrets(text: string): readonly string[] {
  const list = text.split(',').map((each) => each.trim());
  if (!list.every((each) => each.length >= 32))
    throw new Error('must be at least 32 characters, such as `openssl rand -hex 32` gives');
  return list;
}

/** Undefined for `all`, which includes scopes that are added later. */
export function scopes(text: string): Scopes {
  try {
    return readScopes(text.replace(/\s*,\s*/g, ','));
  } catch {
    throw new Error(`must be all, or some of ${SCOPES.join(', ')}, each at most once`);
  }
}

export function mailAddress(text: string): string {
  const address = mailboxAddress(text, domainToASCII);
  if (address === undefined) throw new Error('must be an e-mail address, such as store@example.com');
  return address;
}
