import { hkdfSync } from 'node:crypto';
import { Signer } from '@fastify/cookie';

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
