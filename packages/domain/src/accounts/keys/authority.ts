import type { Instant } from '../../kernel/clock.js';
import { type Account, type AccountId, requireVersion } from '../account.js';
import { type ApiKey, invalidKey, type KeyRequester, requireUsable } from './api-key.js';
import { requireScopes, type Scope } from '../scope.js';

/**
 * Who asks for a change: a key of the account, a person who is signed in to it, or the operator. The operator may do
 * everything.
 */
export type Actor =
  | Pick<KeyRequester, 'keyId'>
  /** The version that the account had when the request arrived. */
  | Pick<Account, 'credentialVersion'>
  | 'operator';

export interface AccountRequest {
  readonly accountId: AccountId;
  readonly actor: Actor;
}

/**
 * The stored account and key of an actor. They are read from the database, not from the cache, in the transaction that
 * stores a change, and are locked: the request may have waited, and its owner may have revoked the key meanwhile.
 */
export interface Authority {
  /** Undefined if there is no such account, or it is closed. */
  readonly account: Account | undefined;
  /** The actor's key. Undefined if it has none, or the account has no such key. */
  readonly key: ApiKey | undefined;
}

/**
 * Checks again, when a change is stored, whether its actor may still make it.
 *
 * @param scopes that the change needs. Both the account and the key must have them.
 * @throws UnusableKey, SignedOut or InsufficientScope; DomainError `invalid_api_key`.
 */
export function requireAuthority(
  actor: Actor,
  { account, key }: Authority,
  scopes: readonly Scope[],
  now: Instant,
): void {
  if (actor === 'operator') return;
  if ('credentialVersion' in actor) requireVersion(account, actor.credentialVersion);
  else if (key === undefined) throw invalidKey();
  else requireUsable(key, now);
  if (account === undefined) throw invalidKey();
  requireScopes({ account, key }, scopes);
}
