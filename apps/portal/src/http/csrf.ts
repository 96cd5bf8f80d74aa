import fastifyCsrf from '@fastify/csrf-protection';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** From now on a form is taken only with a token that this browser was given, for the same person. */
export async function refuseForgedForms(fastify: FastifyInstance, secret: string): Promise<void> {
  await fastify.register(fastifyCsrf, {
    sessionPlugin: '@fastify/cookie',
    cookieKey: 'csrf',
    cookieOpts: { path: '/', httpOnly: true, sameSite: 'lax', secure: 'auto' },
    csrfOpts: { hmacKey: secret },
    getUserInfo: userInfo,
    getToken: (request) => formToken(request),
  });
  fastify.addHook('preHandler', (request, reply, done) => {
    if (request.method === 'POST') fastify.csrfProtection(request, reply, done);
    else done();
  });
}

/** For the hidden field of a form that is about to be shown. */
export function newFormToken(request: FastifyRequest, reply: FastifyReply): string {
  return reply.generateCsrf({ userInfo: userInfo(request) });
}

/** What the form that was sent had in that field. */
export function formToken({ body }: Pick<FastifyRequest, 'body'>): string {
  const token = typeof body === 'object' && body !== null && '_csrf' in body ? body._csrf : undefined;
  return typeof token === 'string' ? token : '';
}

function userInfo({ account }: FastifyRequest): string {
  return account === undefined ? 'nobody' : String(account.id);
}
