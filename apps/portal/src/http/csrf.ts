import { Tokens } from '@fastify/csrf';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cookieName } from './cookies.js';
import { fields } from './forms.js';
import { keysFor, signerFor } from './secrets.js';

declare module 'fastify' {
  interface FastifyReply {
    /** Returns a token for the hidden field of a form. */
    newFormToken: () => string;
  }

  interface FastifyRequest {
    /** The form's token was refused, and nobody is signed in: `SignedInGuard` says whether that is why. */
    isFormRefused: boolean;
  }
}

const COOKIE = 'csrf';

/** The form's token isn't one that this browser was given for the person who is signed in now. */
export class FormRefused extends Error {
  override readonly name = 'FormRefused';
}

/**
 * Refuses a form without a token that this browser was given for the same person. If nobody is signed in, `SignedInGuard`
 * refuses it, because a person whose session has ended should learn that.
 */
export function refuseForgedForms(fastify: FastifyInstance, secrets: readonly string[]): void {
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
  fastify.decorateRequest('isFormRefused', false);
  fastify.addHook('preHandler', (request, _reply, done) => {
    const secret = secretOf(request)?.value;
    const isOurs =
      request.method !== 'POST' ||
      (secret !== undefined && tokens.some((each) => each.verify(secret, formToken(request.body), personOf(request))));
    request.isFormRefused = !isOurs;
    done(isOurs || request.account === undefined ? undefined : new FormRefused());
  });
}

/** The token in the submitted form. */
export function formToken(body: unknown): string {
  return fields(body, '_csrf')._csrf;
}

function personOf({ account }: FastifyRequest): string {
  return account === undefined ? 'nobody' : String(account.id);
}
