import type { Instant } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';

/** A secret that was replaced. It signs until it ends. */
export interface PastSecret {
  readonly secret: string;
  readonly until: Instant;
}

/** The secrets of a webhook. Only its deliveries read them. */
export interface WebhookSecrets {
  readonly current: string;
  /** The secrets that were replaced, the latest first. */
  readonly past: readonly PastSecret[];
}

/** When a replaced secret ends. */
export type SecretEnd = Pick<PastSecret, 'until'>;

/** Of secrets that were replaced, those that still sign at that instant. */
export function stillSigning<Past extends SecretEnd>(past: readonly Past[], now: Instant): readonly Past[] {
  return past.filter(({ until }) => now < until);
}

/** The secrets that sign at that instant, the current one first. */
export function signingSecrets({ current, past }: WebhookSecrets, now: Instant): readonly string[] {
  return [current, ...stillSigning(past, now).map(({ secret }) => secret)];
}

export function newWebhookSecret(cryptography: Cryptography): string {
  return `whsec_${base64(cryptography.randomBytes(32))}`;
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < bytes.length; index += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(index, index + 3);
    const bits = (first << 16) | (second << 8) | third;
    for (const shift of [18, 12, 6, 0]) text += BASE64.charAt((bits >> shift) & 63);
  }
  const missing = (3 - (bytes.length % 3)) % 3;
  return text.slice(0, text.length - missing) + '='.repeat(missing);
}
