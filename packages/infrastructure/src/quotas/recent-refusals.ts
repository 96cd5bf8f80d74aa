import { type AccountId, MOST_REFUSALS, type ShownRefusal } from '@adoption-store/domain';

/** Refusals of all accounts together, about 5 MB. */
export const MOST_HELD = 20_000;

export interface UnwrittenRefusal extends Omit<ShownRefusal, 'key'> {
  readonly accountId: AccountId;
  /** A write that is repeated has the same ids. */
  readonly id: number;
}

/** A ring: once it is full, the oldest is overwritten. */
interface Ring {
  readonly refusals: UnwrittenRefusal[];
  oldest: number;
}

/** The last 100 refusals of each account, as long as all together fit. */
export class RecentRefusals {
  /** Refusals that were not kept although they are among the last 100 of their account. */
  dropped = 0;
  private readonly rings = new Map<AccountId, Ring>();
  private held = 0;

  add(refusal: UnwrittenRefusal): void {
    const ring = this.rings.get(refusal.accountId);
    const size = ring?.refusals.length ?? 0;
    if (size < MOST_REFUSALS && this.held < MOST_HELD) {
      this.held += 1;
      if (ring === undefined) this.rings.set(refusal.accountId, { refusals: [refusal], oldest: 0 });
      else ring.refusals.push(refusal);
      return;
    }
    if (size < MOST_REFUSALS) this.dropped += 1;
    if (ring === undefined) return;
    ring.refusals[ring.oldest] = refusal;
    ring.oldest = (ring.oldest + 1) % size;
  }

  /** By account, each account's oldest first. */
  all(): UnwrittenRefusal[] {
    return [...this.rings.values()].flatMap(({ refusals, oldest }) => [
      ...refusals.slice(oldest),
      ...refusals.slice(0, oldest),
    ]);
  }
}
