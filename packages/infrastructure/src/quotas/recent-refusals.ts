import { type AccountId, MOST_REFUSALS, type Refusal } from '@adoption-store/domain';

/** Refusals of all accounts together, about 5 MB. */
export const MOST_HELD = 20_000;

export interface UnwrittenRefusal {
  readonly accountId: AccountId;
  readonly refusal: Refusal;
  readonly id: number;
}

/** A ring: once it is full, the oldest is overwritten. */
interface Ring {
  readonly refusals: Refusal[];
  /** Of each refusal, its number. */
  readonly ids: number[];
  oldest: number;
}

/** The last 100 refusals of each account, as long as all together fit. */
export class RecentRefusals {
  /** Refusals that were not kept although they are among the last 100 of their account. */
  dropped = 0;
  private readonly rings = new Map<AccountId, Ring>();
  private held = 0;

  add(accountId: AccountId, refusal: Refusal, id: number): void {
    const ring = this.rings.get(accountId);
    const size = ring?.refusals.length ?? 0;
    if (size < MOST_REFUSALS && this.held < MOST_HELD) {
      this.held += 1;
      if (ring === undefined) this.rings.set(accountId, { refusals: [refusal], ids: [id], oldest: 0 });
      else {
        ring.refusals.push(refusal);
        ring.ids.push(id);
      }
      return;
    }
    if (size < MOST_REFUSALS) this.dropped += 1;
    if (ring === undefined) return;
    ring.refusals[ring.oldest] = refusal;
    ring.ids[ring.oldest] = id;
    ring.oldest = (ring.oldest + 1) % size;
  }

  /** By account, each account's oldest first. */
  all(): UnwrittenRefusal[] {
    return [...this.rings].flatMap(([accountId, { refusals, ids, oldest }]) => {
      const all = refusals.map((refusal, index) => ({ accountId, refusal, id: ids[index] ?? 0 }));
      return [...all.slice(oldest), ...all.slice(0, oldest)];
    });
  }
}
