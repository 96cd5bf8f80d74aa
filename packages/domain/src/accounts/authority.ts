import type { Instant } from '../kernel/clock.js';
import { type Account, type AccountId, requireVersion } from './account.js';
import { type ApiKey, invalidKey, type KeyRequester, requireUsable } from './api-key.js';
import { requireScope, type Scope } from './scope.js';

/** Who asks for a change: a key of the account, a person who has signed in to it, or the operator, who may do everything. */
export type Actor =
  | Pick<KeyRequester, 'keyId'>
  /** The version that the account had when the request arrived. */
  | Pick<Account, 'credentialVersion'>
  | 'operator';

/** A request for what an account has. */
export interface AccountRequest {
  readonly accountId: AccountId;
  readonly actor: Actor;
}

/**
 * What is stored of an actor. A change that asks other servers, hashes a password or waits for a lock judges it when it is
 * stored: read from the database, not from the cache, and locked, so that its owner can't take it back meanwhile.
 */
export interface Authority {
  /** Undefined if there is no such account, or it is closed. */
  readonly account: Account | undefined;
  /** The actor's key. Undefined if it has none, or the account has no such key. */
  readonly key: ApiKey | undefined;
}

/**
 * Judges again, when a change is stored, whether its actor may still ask for it.
 *
 * @param scopes that the change needs, of the account and of the key.
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
  for (const scope of scopes) requireScope({ account, key }, scope);
}
