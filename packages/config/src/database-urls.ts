import { url } from './environment.js';

const readUrl = url('postgres', 'postgresql');

/** The protocol and the user, the hosts with their ports, the path, the query. */
const PARTS = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?]*)(.*)$/;

/** A host and its port. An IPv6 address is in brackets. */
const HOST = /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::([^:]*))?$/;

/** Values of `target_session_attrs` with which libpq finds the server that accepts writes. */
const WRITABLE = ['read-write', 'primary'];

interface Server {
  readonly host: string;
  /** Empty for the default. */
  readonly port: string;
}

/**
 * The URL of each server of the database, in their order. A URL with several hosts has libpq's form, for example
 * `postgres://user@a,b:5433/store?target_session_attrs=read-write`.
 *
 * @throws Error if it is not a URL of PostgreSQL, or if its list of hosts is wrong.
 */
export function databaseUrls(text: string): readonly string[] {
  const [, start = '', authority = '', path = '', query = ''] = PARTS.exec(readUrl(text)) ?? [];
  const params = new URLSearchParams(query);
  const [hosts, ports] = [params.get('host'), params.get('port')];
  if (![authority, hosts, ports].some((list) => list?.includes(','))) return [text];
  const servers = serversOf(authority, hosts?.split(','), ports?.split(','));
  // Without it psql and pg_dump, which read the same URL, would use a standby.
  if (!WRITABLE.includes(params.get('target_session_attrs') ?? ''))
    throw new Error(`must have target_session_attrs=${WRITABLE.join(' or ')}, because it has several hosts`);
  return servers.map(({ host, port }) => {
    params.set('host', host);
    params.set('port', port);
    return `${start}${path === '' ? '/' : path}?${params.toString()}`;
  });
}

/** As in libpq, the hosts and ports of the query replace the others, and a single port is for all hosts. */
function serversOf(authority: string, otherHosts?: readonly string[], otherPorts?: readonly string[]) {
  const named = authority.split(',').map(serverOf);
  const hosts = otherHosts ?? named.map(({ host }) => host);
  const ports = otherPorts ?? named.map(({ port }) => port);
  if (hosts.includes('')) throw new Error('must have no empty host in its list');
  if (ports.length !== 1 && ports.length !== hosts.length) throw new Error('must have one port, or one for each host');
  if (!ports.every(isPort)) throw new Error('must have ports from 1 to 65535');
  return hosts.map((host, index): Server => ({ host, port: ports[index] ?? ports[0] ?? '' }));
}

function serverOf(text: string): Server {
  const [, address, host = address, port = ''] = HOST.exec(text) ?? [];
  if (host === undefined) throw new Error('must have its IPv6 addresses in brackets, such as [::1]:5432');
  return { host: decodeURIComponent(host), port };
}

function isPort(text: string): boolean {
  return text === '' || (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535);
}
