import fastifyCookie from '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether people reach this portal by https. A proxy that ends TLS before us may not say so. */
    readonly isSecure: boolean;
  }
}

/** From now on requests have cookies. One that is set is for this host alone and hidden from scripts. */
export async function readCookies(fastify: FastifyInstance, isSecure: boolean): Promise<void> {
  fastify.decorate('isSecure', isSecure);
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure || 'auto' } as const;
  await fastify.register(fastifyCookie, { parseOptions: attributes });
  // A cache may never hand one person's cookie to another, so an answer that has one is kept nowhere.
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.hasHeader('set-cookie')) reply.header('cache-control', 'no-store');
    done();
  });
}

/** With https, browsers take a cookie with this prefix from this host alone: no neighbouring host can plant one. */
export function cookieName({ server, protocol }: FastifyRequest, name: string): string {
  return server.isSecure || protocol === 'https' ? `__Host-${name}` : name;
}
