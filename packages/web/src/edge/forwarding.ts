import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A host as in RFC 9110 §7.2 and RFC 3986 §3.2.2, without percent-encoding. */
export const HOST = /^(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9._~-]{1,255})(?::\d{1,5})?$/i;
const PROTOCOL = /^https?$/i;
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/;

/**
 * A hook for servers behind trusted proxies. It removes invalid values from X-Forwarded-For, -Host and -Proto.
 * Fastify's `trustProxy` decides whose headers are used, but doesn't validate them: an invalid address would get limits
 * of its own, and an invalid host would become part of a link.
 */
export function dropInvalidForwarding(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const { headers } = request.raw;
  const forwardedFor = validAddresses(textOf(headers['x-forwarded-for']));
  set('x-forwarded-for', forwardedFor.join(', '));
  set('x-forwarded-host', lastOf(headers['x-forwarded-host'], HOST));
  set('x-forwarded-proto', lastOf(headers['x-forwarded-proto'], PROTOCOL).toLowerCase());
  done();

  function set(name: string, value: string): void {
    if (value === '') Reflect.deleteProperty(headers, name);
    else headers[name] = value;
  }
}

/** The addresses nearest to this server, up to the first invalid one: nothing before it can be trusted. */
function validAddresses(list: string): readonly string[] {
  const addresses = list.split(',').map((each) => addressIn(each.trim()));
  return addresses.slice(addresses.lastIndexOf(undefined) + 1).filter((each) => each !== undefined);
}

function addressIn(text: string): string | undefined {
  const [, six, four] = WITH_PORT.exec(text) ?? [];
  const address = six ?? four ?? text;
  return isIP(address) !== 0 && !address.includes('%') ? address : undefined;
}

/** The last value, which the nearest proxy added. Empty if it is invalid. */
function lastOf(value: string | string[] | undefined, pattern: RegExp): string {
  const last = textOf(value).split(',').at(-1)?.trim() ?? '';
  return pattern.test(last) ? last : '';
}

function textOf(value: string | string[] | undefined): string {
  return [value ?? ''].flat().join(',');
}
