import type { Claim, Claimed, DeliveryQueue } from '../../deliveries/delivery-queue.js';
import type { Account } from '../../accounts/account.js';
import { HOUR, type Instant, later, MINUTE, SECOND } from '../../kernel/clock.js';
import { atOnce, claimOne, NOON } from './fixtures.js';
import type { TestFramework } from './framework.js';

/** The time that a test may take: what is due then may be due by now. */
const MARGIN = 20 * SECOND;

/** A queue with what the suite needs around it. */
interface TestedQueue<Id extends string, Item extends Claimed<Id>> {
  readonly queue: DeliveryQueue<Id, Item>;
  openAccount(): Promise<Account>;
  /** Queues an item of the account, or of any, created at that instant or at noon. */
  add(createdAt?: Instant, account?: Account): Promise<Id>;
  letPass(milliseconds: number): Promise<void>;
}

const idsOf = <Id extends string>(items: readonly { readonly id: Id }[]) => items.map(({ id }) => id);

/** The guarantees of every `DeliveryQueue`. Each test begins without items that wait. */
export function deliveryQueue<Id extends string, Item extends Claimed<Id>>(
  { it, expect }: TestFramework,
  opened: () => TestedQueue<Id, Item>,
): void {
  const add = (createdAt?: Instant, account?: Account) => opened().add(createdAt, account);
  /** Queues items of the account, each a moment after the one before. */
  const addSome = async (account: Account, count: number) => {
    const added: Id[] = [];
    while (added.length < count) {
      await letPass(1);
      added.push(await add(NOON, account));
    }
    return added;
  };
  const letPass = (milliseconds: number) => opened().letPass(milliseconds);
  const claim = (limit = 1_000) => opened().queue.claim({ limit, lease: MINUTE });

  it('claims an account’s due items, the longest due first, and no more than asked for, whatever the clock says of their writer', async () => {
    const account = await opened().openAccount();
    const added: Id[] = [];
    for (const ahead of [HOUR, 0, -HOUR, MINUTE]) {
      added.push(await add(later(NOON, ahead), account));
      await letPass(1);
    }
    expect(await claim(0)).toEqual([]);
    expect(idsOf(await claim(3))).toEqual(added.slice(0, 3));
    expect(idsOf(await claim(3))).toEqual(added.slice(3));
    expect(await claim()).toEqual([]);
  });

  it('claims items of accounts in turn, also within one claim', async () => {
    const [many, few] = [await opened().openAccount(), await opened().openAccount()];
    const [first, ...others] = await addSome(many, 6);
    const [own, next, last] = await addSome(few, 3);
    await letPass(1);
    expect(idsOf(await claim(1))).toEqual([first]);
    const [late] = await addSome(await opened().openAccount(), 1);
    expect(idsOf(await claim(2))).toEqual([own, others[0]]);
    expect(idsOf(await claim(5))).toEqual([late, next, others[1], last, others[2]]);
    expect(idsOf(await claim())).toEqual(others.slice(3));
  });

  it('lets no account wait for another whose items are tried again', async () => {
    const [failing, other] = [await opened().openAccount(), await opened().openAccount()];
    await addSome(failing, 5);
    for (const claimed of await claim()) await opened().queue.postpone(claimed, SECOND);
    const own = await add(NOON, other);
    expect(idsOf(await claim(1))).toEqual([own]);
    await letPass(MARGIN);
    const later = await add(NOON, other);
    expect(idsOf(await claim(2))).toContain(later);
    expect(await claim()).toHaveLength(4);
  });

  it('claims an item again only after its claim has expired, with the next claim number', async () => {
    const id = await add();
    for (const [number, lease] of [HOUR, MINUTE, HOUR].entries()) {
      const claimed = await opened().queue.claim({ limit: 1, lease });
      expect(claimed).toMatchObject([{ id, number: number + 1, failures: 0 }]);
      await letPass(lease - MARGIN);
      expect(await claim()).toEqual([]);
      await letPass(MARGIN);
    }
  });

  it('claims a postponed item when it is due again, in that order', async () => {
    const one = await add();
    await opened().queue.postpone(await claimOne(opened().queue), 2 * HOUR);
    const other = await add();
    await opened().queue.postpone(await claimOne(opened().queue), HOUR);
    await letPass(HOUR - MARGIN);
    expect(await claim()).toEqual([]);
    await letPass(HOUR + MARGIN);
    expect(await claim()).toMatchObject([
      { id: other, number: 2, failures: 1 },
      { id: one, number: 2, failures: 1 },
    ]);
  });

  it('claims a released item at once, without a failed attempt', async () => {
    const id = await add();
    await opened().queue.release(await claimOne(opened().queue));
    expect(await claim()).toMatchObject([{ id, number: 2, failures: 0 }]);
  });

  it('never claims an item again once it has been sent or given up', async () => {
    const ends = [
      ({ id }: Claim<Id>) => opened().queue.markSent(id),
      (claimed: Claim<Id>) => opened().queue.markFailed(claimed),
    ];
    for (const end of ends) {
      await add();
      await end(await claimOne(opened().queue));
      await letPass(1_000 * HOUR);
      expect(await claim()).toEqual([]);
      expect(await opened().queue.backlog()).toEqual({ queued: 0, oldest: undefined });
    }
  });

  it('ignores a claim that a later one has followed, except when the item was sent', async () => {
    const { queue } = opened();
    await add();
    const stale = await claimOne(opened().queue);
    await letPass(MINUTE);
    const current = await claimOne(opened().queue);
    await queue.postpone(stale, 0);
    await queue.release(stale);
    await queue.markFailed(stale);
    expect(await claim()).toEqual([]);
    expect(await queue.backlog()).toMatchObject({ queued: 1 });
    await queue.markSent(stale.id);
    await queue.postpone(current, 0);
    await letPass(HOUR);
    expect(await claim()).toEqual([]);
    expect(await queue.backlog()).toMatchObject({ queued: 0 });
  });

  it('reports how many items wait, including claimed ones, and since when', async () => {
    const { queue } = opened();
    expect(await queue.backlog()).toEqual({ queued: 0, oldest: undefined });
    await add(later(NOON, -MINUTE));
    await claim();
    const oldest = await add(later(NOON, -HOUR));
    expect(await queue.backlog()).toEqual({ queued: 2, oldest: later(NOON, -HOUR) });
    await queue.markSent(oldest);
    expect(await queue.backlog()).toEqual({ queued: 1, oldest: later(NOON, -MINUTE) });
  });

  it('gives no item to two of many concurrent claimers, new or expired, and leaves none out', async () => {
    const added: Id[] = [];
    while (added.length < 10) added.push(await add());
    for (const number of [1, 2]) {
      const claims = await atOnce(6, (index) => claim(1 + index));
      // A claim that came while others held the last ones has returned none.
      const claimed = [...claims.flat(), ...(await claim())];
      expect(idsOf(claimed).sort()).toEqual([...added].sort());
      expect(new Set(claimed.map((each) => each.number))).toEqual(new Set([number]));
      await letPass(MINUTE);
    }
  });
}
