import { Tokens } from '@fastify/csrf';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cookieName, keysFor, signerFor } from './cookies.js';
import { formToken } from './forms.js';

declare module 'fastify' {
  interface FastifyReply {
    newFormToken: () => string;
  }

  interface FastifyRequest {
    /** Whether the form has a token that this browser was given for the person who is signed in now. */
    hasFormToken: () => boolean;
  }
}

const COOKIE = 'csrf';

/** Adds the tokens that protect forms from forgery. `AccessGuard` checks them. */
export function addFormTokens(fastify: FastifyInstance, secrets: readonly string[]): void {
  const signer = signerFor('form', secrets);
  // One instance per secret, because the library signs with one key only.
  const tokens = keysFor('form', secrets).map((hmacKey) => new Tokens({ userInfo: true, hmacKey }));
  const secretOf = (request: FastifyRequest) => {
    const { valid, renew, value } = signer.unsign(request.cookies[cookieName(request, COOKIE)] ?? '');
    return valid ? { value, renew } : undefined;
  };
  const [current] = tokens;
  if (current === undefined) throw new Error('no secret was given');
  fastify.decorateReply('newFormToken', function (this: FastifyReply) {
    const { request } = this;
    const kept = secretOf(request);
    const value = kept?.value ?? current.secretSync();
    if (kept?.renew !== false) this.setCookie(cookieName(request, COOKIE), signer.sign(value));
    return current.create(value, personOf(request));
  });
  fastify.decorateRequest('hasFormToken', function (this: FastifyRequest) {
    const secret = secretOf(this)?.value;
    return secret !== undefined && tokens.some((each) => each.verify(secret, formToken(this.body), personOf(this)));
  });
}

function personOf({ person }: FastifyRequest): string {
  return person === undefined ? 'nobody' : String(person.account.id);
}
