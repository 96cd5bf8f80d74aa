import type { AccountId } from '../../accounts/account.js';
import type { ApiKeyId } from '../../accounts/api-key.js';
import type { BanPolicy } from '../../quotas/quota.js';
import type { KeyRequester } from '../../quotas/request-counter.js';
import type { Opened } from './framework.js';

/** Opens the counter that is tested. */
export type OpenRequestCounter = (policy: BanPolicy) => Promise<Opened<'requests'>>;

/** Requesters whom no counter knows, not even one that earlier runs have used. */
export class Requesters {
  constructor(private readonly random: () => number) {}

  key(): KeyRequester {
    return { accountId: this.id() as AccountId, keyId: this.id() as ApiKeyId };
  }

  /** Another key of the same account. */
  keyOf({ accountId }: KeyRequester): KeyRequester {
    return { accountId, keyId: this.id() as ApiKeyId };
  }

  address(): { readonly address: string } {
    return { address: `address ${this.id()}` };
  }

  private id(): bigint {
    return BigInt(1 + Math.floor(this.random() * 2 ** 47));
  }
}
