import type { Instant } from '../kernel/clock.js';
import type { ApiKeyId, KeyRequester } from './api-key.js';

/** Port: the keys that are banned for too many refused requests. */
export interface KeyBans {
  /** The ends of the bans of those of these keys that are banned at `now`, in one look-up. */
  bansOf(requesters: readonly KeyRequester[], now: Instant): Promise<ReadonlyMap<ApiKeyId, Instant>>;
}
