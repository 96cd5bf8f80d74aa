import type { AccountId } from '../accounts/account.js';
import type { ApiKey, ApiKeyId } from '../accounts/api-key.js';
import type { Instant } from '../kernel/clock.js';

/** Refusals of an account that are kept, the latest. */
export const MOST_REFUSALS = 100;

/** A request of a known account that the API answered with an error of the client (4xx). */
export interface Refusal {
  readonly at: Instant;
  readonly keyId: ApiKeyId;
  /** The method and the route, such as `GET /v1/pets/{petId}`. It contains nothing that the client chose. */
  readonly operation: string;
  /** The `code` of the response. */
  readonly code: string;
  /** The `X-Request-Id` of the response. */
  readonly requestId: string;
}

export interface ShownRefusal extends Refusal {
  readonly key: Pick<ApiKey, 'name' | 'ending'>;
}

/** Port: the last refused requests of each account. */
export interface RefusalLog {
  /**
   * Records a refusal. It returns at once and never fails. Reads show it within seconds, together with those of all
   * instances. A refusal that is not stored yet is lost if the process crashes, and those of a closed account are
   * never stored.
   */
  record(accountId: AccountId, refusal: Refusal): void;
  /** The account's last refusals, or those of the request with that id, the latest first. */
  list(accountId: AccountId, requestId?: string): Promise<readonly ShownRefusal[]>;
  /** Deletes the refusals before that instant. Returns their number. */
  forget(before: Instant): Promise<number>;
}
