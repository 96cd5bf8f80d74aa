import type { Instant } from '../../kernel/clock.js';
import type { ApiKeyId, KeyRequester } from './api-key.js';

/** Port: the keys that are banned for too many refused requests. */
export interface KeyBans {
  /** The end of the ban of each of these keys that is banned at `now`. One query for all. */
  bansOf(requesters: readonly KeyRequester[], now: Instant): Promise<ReadonlyMap<ApiKeyId, Instant>>;
}
