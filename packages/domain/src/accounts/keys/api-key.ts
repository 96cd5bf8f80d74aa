import type { Branded } from '../../kernel/branded.js';
import { DAY, type Instant, instant, later } from '../../kernel/clock.js';
import { DomainError, errorCodes, invalid, kernelErrors, ours, ourText } from '../../kernel/errors.js';
import { hasVisible } from '../../kernel/text.js';
import { type Account, type AccountId, requireVersion } from '../account.js';
import type { AccountMailId, NewAccountMail } from '../mails/account-mail.js';
import { nameOfKey, newNotice } from '../mails/notice.js';
import type { Scopes } from '../scope.js';

export const keyManagementErrors = errorCodes({
  too_many_keys: 'conflict',
});

export const keyErrors = errorCodes({
  missing_api_key: 'unauthenticated',
  invalid_api_key: 'unauthenticated',
  expired_api_key: 'unauthenticated',
  revoked_api_key: 'unauthenticated',
  disabled_api_key: 'unauthenticated',
});

export type ApiKeyId = Branded<bigint, 'ApiKeyId'>;

/** A key that sends requests, and its account. */
export interface KeyRequester {
  readonly accountId: AccountId;
  readonly keyId: ApiKeyId;
}

/** A key as it is stored: only the SHA-256 of its text, never the text itself. */
export interface NewApiKey {
  readonly accountId: AccountId;
  /** SHA-256 of the key's text, 64 hexadecimal digits. */
  readonly hash: string;
  /** The last four characters of the text, to tell keys apart. */
  readonly ending: string;
  readonly name: string | undefined;
  /** The scopes chosen for the key; they never change. A request needs a scope of the key that its account has too. */
  readonly scopes: Scopes;
  readonly createdAt: Instant;
  /** The key is refused from this instant on, by the clock of the instance that checks it. */
  readonly expiresAt: Instant | undefined;
}

export interface ApiKey extends NewApiKey {
  readonly id: ApiKeyId;
  /** When it was revoked, by the clock of the instance that did it. A revoked key is refused, whatever the time. */
  readonly revokedAt: Instant | undefined;
  /** Since when it is disabled. Unlike a revoked key, it can be enabled again. */
  readonly disabledAt: Instant | undefined;
  /** The key that replaced this one when it was rotated. */
  readonly replacedBy: ApiKeyId | undefined;
  /** The latest recorded minute in which the key was used successfully. */
  readonly lastUsedAt: Instant | undefined;
}

/**
 * Keys that an account may have at a time. Keys that still work beside their replacements count, and so do disabled
 * ones, so that enabling a key never exceeds the limit.
 */
export const MOST_ACTIVE_KEYS = 25;

/** Keys that an account may make on one UTC day, rotations included, so that the stored rows stay bounded. */
export const MOST_KEYS_A_DAY = 1_000;
/** Longest time, in milliseconds, for which a rotated key and its replacement both work. */
export const MOST_OVERLAP = 30 * DAY;

export const KEY_STATES = ['active', 'disabled', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];

/**
 * A revoked or disabled key is refused as soon as that is stored, whatever the clock says. `now` is compared only with
 * the expiry, which somebody chose in advance.
 */
export function keyState(key: Pick<ApiKey, 'expiresAt' | 'revokedAt' | 'disabledAt'>, now: Instant): KeyState {
  if (!hasEnded(key, now)) return key.disabledAt === undefined ? 'active' : 'disabled';
  return key.revokedAt === undefined || key.revokedAt === key.expiresAt ? 'expired' : 'revoked';
}

/** Whether the key has expired or is revoked. It never works again. */
export function hasEnded(key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: Instant): boolean {
  return key.revokedAt !== undefined || (key.expiresAt ?? Infinity) <= now;
}

const REASONS = {
  expired: 'the API key has expired',
  revoked: 'the API key has been revoked',
  disabled: 'the API key is disabled',
} as const satisfies Readonly<Record<Exclude<KeyState, 'active'>, string>>;

/** The key was issued, but is expired, revoked or disabled. The refusal is shown to the account's holder. */
export class UnusableKey extends DomainError {
  readonly owner: KeyRequester;

  constructor(state: keyof typeof REASONS, { accountId, id }: Pick<ApiKey, 'accountId' | 'id'>) {
    super(keyErrors[`${state}_api_key`], ourText(REASONS[state]));
    this.owner = { accountId, keyId: id };
  }
}

/** The message doesn't say what is wrong with the key. */
export function invalidKey(): DomainError {
  return new DomainError(keyErrors.invalid_api_key, ours`the API key is not valid`);
}

/** @throws UnusableKey */
export function requireUsable(key: ApiKey, now: Instant): void {
  const state = keyState(key, now);
  if (state !== 'active') throw new UnusableKey(state, key);
}

export interface OperationUse {
  /** The name that the API gives the operation. */
  readonly operation: string;
  /** The latest recorded minute in which the key called it. */
  readonly lastUsedAt: Instant;
}

/** The instant from which the key is refused. Undefined if it never ends. */
export function endOf({ revokedAt, expiresAt }: Pick<ApiKey, 'expiresAt' | 'revokedAt'>): Instant | undefined {
  if (revokedAt === undefined || expiresAt === undefined) return revokedAt ?? expiresAt;
  return instant(Math.min(revokedAt, expiresAt));
}

const MAX_NAME_LENGTH = 100;

/** @throws DomainError `invalid_parameter` */
export function keyName(name: string | undefined): string | undefined {
  if (name !== undefined && (!hasVisible(name) || name.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(name)))
    throw invalid('name', ours`must be 1 to ${MAX_NAME_LENGTH} printable characters`);
  return name;
}

/** The key, if it belongs to that account, or to any if none is given. */
function ownedBy<Key extends Pick<ApiKey, 'accountId'>>(
  key: Key | undefined,
  accountId: AccountId | undefined,
): Key | undefined {
  return accountId === undefined || key?.accountId === accountId ? key : undefined;
}

/** The stored state of an account that will get a key. */
export interface KeyHolder {
  /** Undefined if there is no such account, or it is closed. */
  readonly account: Account | undefined;
  /** How many of its keys haven't ended. */
  readonly activeKeys: number;
  /** How many keys it has made on this UTC day. A store may stop counting at `MOST_KEYS_A_DAY`. */
  readonly madeToday: number;
}

export interface KeyIssue {
  readonly key: NewApiKey;
  readonly noticeId: AccountMailId;
  /** The `credentialVersion` that the account must still have, for a request made in a session. Default: any. */
  readonly credentialVersion?: number | undefined;
}

/** A key to store, and a mail to queue, as `decideNotice` decides. */
export interface MadeKey {
  readonly key: NewApiKey;
  readonly notice?: NewAccountMail | undefined;
}

/** @throws SignedOut; DomainError `not_found` if the account isn't there, or `too_many_keys`. */
export function decideIssue({ account, ...made }: KeyHolder, issue: KeyIssue): MadeKey {
  const { key, credentialVersion, noticeId } = issue;
  requireVersion(account, credentialVersion);
  if (account === undefined)
    throw new DomainError(kernelErrors.not_found, ours`no account has the id ${key.accountId}`);
  if (made.activeKeys >= MOST_ACTIVE_KEYS) {
    throw new DomainError(
      keyManagementErrors.too_many_keys,
      ours`the account has ${MOST_ACTIVE_KEYS} API keys that are active or disabled, which is the most; revoke one first`,
    );
  }
  if (made.madeToday >= MOST_KEYS_A_DAY) {
    throw new DomainError(
      keyManagementErrors.too_many_keys,
      ours`the account has made ${MOST_KEYS_A_DAY} API keys today, which is the most; go on with those it has until tomorrow (UTC)`,
    );
  }
  return { key, notice: newNotice(account, { id: noticeId, kind: 'key', about: nameOfKey(key) }, key.createdAt) };
}

/** A command to change the key with that id. */
export interface KeyCommand extends Pick<KeyIssue, 'credentialVersion'> {
  readonly id: bigint;
  /** The account that must own the key. Default: any account. */
  readonly accountId?: AccountId | undefined;
}

/** The stored state of a key that will be changed, and its account. */
export interface KeyToChange {
  /** Undefined if it is closed. */
  readonly account: Account | undefined;
  readonly key: ApiKey | undefined;
}

export interface KeyRotation extends KeyCommand, Pick<KeyIssue, 'noticeId'> {
  /** How long both keys work, in milliseconds. */
  readonly overlap: number;
  readonly text: Pick<NewApiKey, 'hash' | 'ending'>;
}

/** The stored state of a key that will be rotated, and its account. */
export interface RotationState extends KeyHolder {
  readonly old: ApiKey | undefined;
}

export interface RotatedKey {
  /** The old key after the change, without `replacedBy`: the replacement gets its id only when it is stored. */
  readonly old: ApiKey;
  readonly replacement: NewApiKey;
  readonly notice?: NewAccountMail | undefined;
}

/**
 * The replacement has the old key's name, scopes and expiry. The old key works until the overlap ends, or until its own
 * expiry if that is earlier.
 *
 * @throws SignedOut; DomainError `not_found` or `too_many_keys`
 */
export function decideRotation(state: RotationState, command: KeyRotation, now: Instant): RotatedKey {
  const old = ownedBy(state.old, command.accountId);
  if (old !== undefined) requireVersion(state.account, command.credentialVersion);
  const isCurrent = old?.replacedBy === undefined && state.account !== undefined;
  if (old === undefined || !isCurrent || keyState(old, now) !== 'active') {
    throw new DomainError(
      kernelErrors.not_found,
      ours`no active API key that has not been rotated yet has the id ${command.id}`,
    );
  }
  const { accountId, name, scopes, expiresAt } = old;
  const endsAt = instant(Math.min(later(now, command.overlap), expiresAt ?? Infinity));
  const isOver = endsAt <= now;
  const key = { accountId, name, scopes, createdAt: now, expiresAt, ...command.text };
  const holder = { ...state, activeKeys: state.activeKeys - (isOver ? 1 : 0) };
  const { key: replacement, notice } = decideIssue(holder, { key, noticeId: command.noticeId });
  return {
    // A key that ends now is also revoked, because a revocation applies on servers whose clock is behind, too.
    old: { ...old, expiresAt: endsAt, revokedAt: isOver ? endsAt : undefined },
    replacement,
    notice: notice && { ...notice, kind: 'rotated' },
  };
}

/** The stored state of a key whose text could not be shown to anybody. */
export interface UnseenKey {
  readonly key: ApiKey | undefined;
  /** The key that it has replaced. */
  readonly replaced: ApiKey | undefined;
}

export interface RolledBackKey {
  readonly key: ApiKey;
  readonly replaced?: ApiKey;
}

/**
 * Revokes the key. The key that it replaced works again until its expiry from before the rotation, which is the expiry
 * of its replacement.
 *
 * @throws DomainError `not_found`
 */
export function decideRollback({ key, replaced }: UnseenKey, command: KeyCommand, now: Instant): RolledBackKey {
  const revoked = revoke(requireTheirs(key, command), now);
  if (replaced === undefined) return { key: revoked };
  // A rotation without an overlap sets both times to the same instant. If they differ, a person has revoked the old
  // key.
  const revokedAt = replaced.revokedAt === replaced.expiresAt ? undefined : replaced.revokedAt;
  return { key: revoked, replaced: { ...replaced, expiresAt: revoked.expiresAt, revokedAt, replacedBy: undefined } };
}

/** A key that is already revoked keeps its `revokedAt`. @throws SignedOut; DomainError `not_found` */
export function decideRevocation({ account, key }: KeyToChange, command: KeyCommand, now: Instant): ApiKey {
  const theirs = requireTheirs(key, command);
  requireVersion(account, command.credentialVersion);
  return revoke(theirs, now);
}

function revoke(key: ApiKey, now: Instant): ApiKey {
  return { ...key, revokedAt: key.revokedAt ?? now };
}

export interface KeySwitch extends KeyCommand {
  /** Whether the key is disabled from now on, or enabled. */
  readonly isDisabled: boolean;
}

/**
 * A key that is already disabled keeps its `disabledAt`.
 *
 * @throws SignedOut; DomainError `not_found` also if the key has ended.
 */
export function decideKeySwitch(
  { account, key }: KeyToChange,
  { id, accountId, credentialVersion, isDisabled }: KeySwitch,
  now: Instant,
): ApiKey {
  const theirs = ownedBy(key, accountId);
  if (theirs !== undefined) requireVersion(account, credentialVersion);
  if (theirs === undefined || hasEnded(theirs, now))
    throw new DomainError(kernelErrors.not_found, ours`no API key that still works has the id ${id}`);
  return { ...theirs, disabledAt: isDisabled ? (theirs.disabledAt ?? now) : undefined };
}

export interface KeyRenaming extends KeyCommand {
  /** Undefined: no name. */
  readonly name: string | undefined;
}

/** @throws SignedOut; DomainError `not_found` */
export function decideRenaming({ account, key }: KeyToChange, command: KeyRenaming): ApiKey {
  const theirs = requireTheirs(key, command);
  requireVersion(account, command.credentialVersion);
  return { ...theirs, name: command.name };
}

/** @throws DomainError `not_found` */
export function requireTheirs(key: ApiKey | undefined, { id, accountId }: KeyCommand): ApiKey {
  const theirs = ownedBy(key, accountId);
  if (theirs === undefined) throw new DomainError(kernelErrors.not_found, ours`no API key has the id ${id}`);
  return theirs;
}
