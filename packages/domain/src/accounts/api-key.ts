import { BASE62, randomBase62 } from '../kernel/base62.js';
import type { Branded } from '../kernel/branded.js';
import { type Instant, instant } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { DomainError, invalid } from '../kernel/errors.js';
import type { AccountId } from './account.js';
import { crc32 } from './crc32.js';
import type { Scopes } from './scope.js';

export type ApiKeyId = Branded<bigint, 'ApiKeyId'>;

export const KEY_ENVIRONMENTS = ['live', 'staging'] as const;
/** The deployment that accepts the key. It is part of the key's text. */
export type KeyEnvironment = (typeof KEY_ENVIRONMENTS)[number];

/** A key as it is stored: only the SHA-256 of its text, never the text itself. */
export interface NewApiKey {
  readonly accountId: AccountId;
  /** SHA-256 of the key's text, 64 hexadecimal digits. */
  readonly hash: string;
  /** The last four characters of the text, to tell keys apart. */
  readonly ending: string;
  readonly name: string | undefined;
  /** The scopes that the key asks for. It has those that its account has too. They never change. */
  readonly scopes: Scopes;
  readonly createdAt: Instant;
  /** The key is refused from this instant on, by the clock of the instance that checks it. */
  readonly expiresAt: Instant | undefined;
}

export interface ApiKey extends NewApiKey {
  readonly id: ApiKeyId;
  /**
   * When it was revoked, by the clock of the instance that did it. A revoked key is always refused, whatever the time.
   */
  readonly revokedAt: Instant | undefined;
  /** Since when it is disabled. Unlike a revoked key, it can be enabled again. */
  readonly disabledAt: Instant | undefined;
  /** The key that replaced this one when it was rotated. */
  readonly replacedBy: ApiKeyId | undefined;
  /** The latest recorded minute in which the key was used successfully. */
  readonly lastUsedAt: Instant | undefined;
}

/**
 * Active keys that an account may have, including those that still work beside their replacements, and the disabled
 * ones: enabling a key is never refused because of others.
 */
export const MOST_ACTIVE_KEYS = 25;

/** Keys that an account may make on one UTC day, rotations included, so that the stored rows stay bounded. */
export const MOST_KEYS_A_DAY = 1_000;

const SECRET_LENGTH = 32; // 32 · log2(62) = 190 bits
const CHECKSUM_LENGTH = 6; // 62^6 > 2^32
const KEY_TEXT = new RegExp(`^aas_([a-z]{1,16})_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * A new key's text: `aas_<environment>_`, 32 random base62 characters, and 6 characters of CRC-32 of all that precedes.
 */
export function generateKeyText(environment: KeyEnvironment, cryptography: Cryptography): string {
  const text = `aas_${environment}_${randomBase62(SECRET_LENGTH, cryptography)}`;
  return text + checksum(text);
}

/**
 * The environment in a key's text. Undefined if the form or the checksum is wrong: such a text was never issued, so it
 * needs no look-up.
 */
export function environmentOf(text: string): string | undefined {
  const environment = KEY_TEXT.exec(text)?.[1];
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return checksum(body) === text.slice(-CHECKSUM_LENGTH) ? environment : undefined;
}

export const KEY_STATES = ['active', 'disabled', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];

/**
 * A revocation applies as soon as it is stored, and compares no clock, and so does being disabled. `now` is used only
 * for an expiry, which is a time that somebody chose.
 */
export function keyState(key: Pick<ApiKey, 'expiresAt' | 'revokedAt' | 'disabledAt'>, now: Instant): KeyState {
  if (!hasEnded(key, now)) return key.disabledAt === undefined ? 'active' : 'disabled';
  return key.revokedAt === undefined || key.revokedAt === key.expiresAt ? 'expired' : 'revoked';
}

/** Whether the key works no more, and never will again. */
export function hasEnded(key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: Instant): boolean {
  return key.revokedAt !== undefined || (key.expiresAt ?? Infinity) <= now;
}

/** The domain doesn't read the name of an operation. */
export interface OperationUse {
  readonly operation: string;
  /** The latest recorded minute in which the key called it. */
  readonly lastUsedAt: Instant;
}

/** The replaced key after a rotation at `now`. An end that is due immediately is stored as a revocation. */
export function endOfReplaced(endsAt: Instant, now: Instant): Pick<ApiKey, 'expiresAt' | 'revokedAt'> {
  return { expiresAt: endsAt, revokedAt: endsAt <= now ? endsAt : undefined };
}

/** The instant from which the key is refused. Undefined if it never ends. */
export function endOf({ revokedAt, expiresAt }: Pick<ApiKey, 'expiresAt' | 'revokedAt'>): Instant | undefined {
  if (revokedAt === undefined || expiresAt === undefined) return revokedAt ?? expiresAt;
  return instant(Math.min(revokedAt, expiresAt));
}

export function tooManyKeys(most: number): DomainError {
  return new DomainError(
    'too_many_keys',
    `the account has ${most} API keys that are active or disabled, which is the most; revoke one first`,
  );
}

export function tooManyKeysToday(most: number): DomainError {
  return new DomainError(
    'too_many_keys',
    `the account has made ${most} API keys today, which is the most; go on with those it has until tomorrow (UTC)`,
  );
}

const MAX_NAME_LENGTH = 100;

/** @throws DomainError `invalid_parameter` */
export function keyName(name: string | undefined): string | undefined {
  if (name !== undefined && (name.trim() === '' || name.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(name))) {
    throw invalid('name', `must be 1 to ${MAX_NAME_LENGTH} printable characters`);
  }
  return name;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
