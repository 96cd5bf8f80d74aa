import { type AccountId, MOST_REFUSALS, type ShownRefusal } from '@adoption-store/domain';

/** Refusals of all accounts together, about 5 MB. */
export const MOST_HELD = 20_000;

export interface UnwrittenRefusal extends Omit<ShownRefusal, 'key'> {
  readonly accountId: AccountId;
  /** A write that is repeated has the same ids. */
  readonly id: number;
}

/** The last 100 refusals of each account, as long as all together fit. */
export class RecentRefusals {
  /** Refusals that were not kept although they are among the last 100 of their account. */
  dropped = 0;
  private readonly byAccount = new Map<AccountId, UnwrittenRefusal[]>();
  private held = 0;

  add(refusal: UnwrittenRefusal): void {
    const theirs = this.byAccount.get(refusal.accountId) ?? [];
    const hasRoom = theirs.length < MOST_REFUSALS;
    if (hasRoom && this.held < MOST_HELD) this.held += 1;
    else {
      if (hasRoom) this.dropped += 1;
      // Without any of its own, this one is dropped.
      if (theirs.shift() === undefined) return;
    }
    theirs.push(refusal);
    this.byAccount.set(refusal.accountId, theirs);
  }

  /** By account, each account's oldest first. */
  all(): UnwrittenRefusal[] {
    return [...this.byAccount.values()].flat();
  }
}
