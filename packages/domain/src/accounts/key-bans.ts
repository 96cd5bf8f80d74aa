import type { Instant } from '../kernel/clock.js';
import type { AccountId } from './account.js';
import type { ApiKeyId } from './api-key.js';

/** A key that sends requests, and its account. */
export interface KeyRequester {
  readonly accountId: AccountId;
  readonly keyId: ApiKeyId;
}

/** Port: the keys that are banned for too many refused requests. */
export interface KeyBans {
  /** The ends of the bans of those of these keys that are banned at `now`, in one look-up. */
  bansOf(requesters: readonly KeyRequester[], now: Instant): Promise<ReadonlyMap<ApiKeyId, Instant>>;
}
