import { hkdfSync } from 'node:crypto';
import fastifyCookie, { Signer } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The purposes of the portal's signatures. A signature for one purpose is not valid for another. */
export type Purpose = 'session' | 'form' | 'device';

/** One key per secret, in the same order, derived for that purpose only (RFC 5869). */
export function keysFor(purpose: Purpose, secrets: readonly string[]): string[] {
  return secrets.map((secret) =>
    Buffer.from(hkdfSync('sha256', secret, '', `adoption store portal ${purpose}`, 32)).toString('base64url'),
  );
}

/** Signs with the first secret, and accepts signatures of all of them. */
export function signerFor(purpose: Purpose, secrets: readonly string[]): Signer {
  return new Signer(keysFor(purpose, secrets));
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether people reach this portal by https. A proxy that terminates TLS may not report it. */
    readonly isSecure: boolean;
  }
}

/** Adds cookies to requests. A cookie that is set is only for this host and hidden from scripts. */
export async function readCookies(fastify: FastifyInstance, isSecure: boolean): Promise<void> {
  fastify.decorate('isSecure', isSecure);
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure || 'auto' } as const;
  await fastify.register(fastifyCookie, { parseOptions: attributes });
  // A cache must never give one person's cookie to another, so a response that sets a cookie is never stored.
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.hasHeader('set-cookie')) reply.header('cache-control', 'no-store');
    done();
  });
}

/**
 * Cookies know no ports, so programs on one host share them: the name is none that another program has. Over https,
 * browsers accept a cookie with the prefix only from this host, so no other host can set it.
 */
export function cookieName({ server, protocol }: FastifyRequest, name: string): string {
  const ours = `adoption-store-${name}`;
  return server.isSecure || protocol === 'https' ? `__Host-${ours}` : ours;
}

/** The value of a cookie that is read once. */
export function takeCookie(reply: FastifyReply, name: string): string | undefined {
  const cookie = cookieName(reply.request, name);
  const value = reply.request.cookies[cookie];
  if (value !== undefined) reply.clearCookie(cookie);
  return value;
}
