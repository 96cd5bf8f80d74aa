import { type AccountId, DomainError, kernelErrors, plan, type PlanName } from '@adoption-store/domain';
import { until } from '@adoption-store/test-support';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AccountTurns } from '../src/turns/account-turns.js';
import { SharedReads } from '../src/turns/shared-reads.js';

const owner = (id: bigint, name: Exclude<PlanName, 'enterprise'> = 'pro') => ({
  id: id as AccountId,
  plan: plan(name),
});
const [alice, bob, carol] = [owner(1n), owner(2n), owner(3n)];

type Owner = typeof alice;

describe('turns of accounts', () => {
  let begun: string[];
  let ends: Map<string, (error?: Error) => void>;
  let turns: AccountTurns;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    begun = [];
    ends = new Map();
    turns = new AccountTurns({ total: 3, perAccount: 2 });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Work that ends when the test ends it. */
  function run(account: Owner, name: string, weight?: number): Promise<string> {
    const work = () => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => {
          if (error === undefined) resolve(name);
          else reject(error);
        });
      });
    };
    return turns.run(account, work, weight);
  }

  async function end(name: string, error?: Error): Promise<void> {
    ends.get(name)?.(error);
    await jest.advanceTimersByTimeAsync(0);
  }

  const runEach = (account: Owner, ...names: string[]) => {
    for (const name of names) void run(account, name).catch(() => undefined);
  };

  it('an account has a few works at a time; the others wait in their order, while another account begins at once', async () => {
    const works = ['a1', 'a2', 'a3', 'a4'].map((name) => run(alice, name));
    void run(bob, 'b1');
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    for (const name of ['a2', 'a1', 'a3', 'a4']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
    expect(await Promise.all(works)).toEqual(['a1', 'a2', 'a3', 'a4']);
  });

  it('an account that is alone has every turn, and from then on each other account every second one', async () => {
    turns = new AccountTurns({ total: 3 });
    runEach(alice, 'a1', 'a2', 'a3', 'a4', 'a5');
    runEach(bob, 'b1', 'b2');
    expect(begun).toEqual(['a1', 'a2', 'a3']);
    for (const name of ['a1', 'a2', 'a3', 'a4']) await end(name);
    expect(begun.slice(3)).toEqual(['a4', 'b1', 'a5', 'b2']);
  });

  it('accounts with waiting work take turns', async () => {
    runEach(alice, 'a1', 'a2', 'a3', 'a4');
    runEach(bob, 'b1', 'b2', 'b3');
    runEach(carol, 'c1');
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    for (const name of ['a1', 'b1', 'a2']) await end(name);
    expect(begun.slice(3)).toEqual(['a3', 'b2', 'c1']);
  });

  it('plans take turns, so that many free accounts delay only free ones', async () => {
    turns = new AccountTurns({ total: 1 });
    for (let id = 10n; id < 20n; id += 1n) runEach(owner(id, 'free'), `free ${id}`);
    runEach(alice, 'a1', 'a2');
    for (const name of ['free 10', 'free 11', 'a1', 'free 12']) await end(name);
    expect(begun).toEqual(['free 10', 'free 11', 'a1', 'free 12', 'a2']);
  });

  it('works of more weight take more of the room, and lighter ones don’t overtake them', async () => {
    turns = new AccountTurns({ total: 10 });
    void run(alice, 'six', 6);
    void run(bob, 'five', 5);
    void run(carol, 'four', 4);
    expect(begun).toEqual(['six']);
    await end('six');
    expect(begun).toEqual(['six', 'five', 'four']);
  });

  it('work that fails ends its turn, also if it fails before there is a promise', async () => {
    const failing = ['one', 'other', 'third'].map((name) =>
      turns.run(alice, () => {
        throw new Error(name);
      }),
    );
    expect(await Promise.allSettled(failing)).toMatchObject(
      ['one', 'other', 'third'].map((message) => ({ status: 'rejected', reason: { message } })),
    );
  });

  it('work that has waited too long never runs, and the next of its account does', async () => {
    runEach(alice, 'a1', 'a2');
    const late = expect(run(alice, 'late')).rejects.toMatchObject({ code: 'service_unavailable' });
    await jest.advanceTimersByTimeAsync(500);
    runEach(alice, 'in time');
    await jest.advanceTimersByTimeAsync(500);
    await late;
    await end('a1');
    expect(begun).toEqual(['a1', 'a2', 'in time']);
  });

  it('work whose turn comes late is answered within two seconds, and keeps its turn until it ends', async () => {
    runEach(alice, 'a1', 'a2');
    const late = expect(run(alice, 'a3')).rejects.toMatchObject({ code: 'service_unavailable' });
    await jest.advanceTimersByTimeAsync(900);
    await end('a1');
    await jest.advanceTimersByTimeAsync(1_100);
    await late;
    runEach(alice, 'a4');
    expect(begun).toEqual(['a1', 'a2', 'a3']);
    await end('a3');
    expect(begun).toEqual(['a1', 'a2', 'a3', 'a4']);
  });

  describe('the refusal of work that has waited too long', () => {
    it.each([
      { is: 'too_many_at_once', when: 'a work of its account was answered meanwhile', error: undefined },
      { is: 'too_many_at_once', when: 'one was refused', error: new DomainError(kernelErrors.not_found, 'none') },
      {
        is: 'service_unavailable',
        when: 'all have failed',
        error: new DomainError(kernelErrors.service_unavailable, 'down'),
      },
      { is: 'service_unavailable', when: 'a defect ended it', error: new TypeError('a defect') },
    ])('is $is if $when', async ({ is, error }) => {
      runEach(alice, 'a1', 'a2', 'a3');
      const refused = expect(run(alice, 'a4')).rejects.toMatchObject({ code: is });
      await jest.advanceTimersByTimeAsync(500);
      await end('a1', error);
      await jest.advanceTimersByTimeAsync(500);
      await refused;
    });

    it('is service_unavailable if others have kept it waiting', async () => {
      turns = new AccountTurns({ total: 2 });
      runEach(alice, 'a1', 'a2', 'a3');
      const refused = expect(run(bob, 'b1')).rejects.toMatchObject({ code: 'service_unavailable' });
      await jest.advanceTimersByTimeAsync(1_000);
      await refused;
    });

    it('comes at once if a thousand of its account wait already, and to no other account', async () => {
      runEach(alice, 'a1', 'a2', 'a3');
      await end('a1');
      for (let waiting = 0; waiting < 1_000; waiting += 1) runEach(alice, 'more');
      await expect(run(alice, 'refused')).rejects.toMatchObject({ code: 'too_many_at_once' });
      runEach(bob, 'b1');
      expect(begun).toEqual(['a1', 'a2', 'a3', 'b1']);
    });
  });
});

describe('requests that share a read', () => {
  function controlled(total = Infinity) {
    const reads: { resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
    const shared = new SharedReads<number>();
    const turns = new AccountTurns({ total });
    const read = () => new Promise<number>((resolve, reject) => reads.push({ resolve, reject }));
    const ask = (key = 'key', account = alice) => shared.of(account, { key, read, turns });
    return { reads, ask };
  }

  it('get a read that began after they came, one for all that came meanwhile', async () => {
    const { reads, ask } = controlled();
    const first = ask();
    const [second, third] = [ask(), ask()];
    expect(reads).toHaveLength(1);
    reads[0]?.resolve(1);
    expect(await first).toBe(1);
    await until(() => reads.length === 2);
    const fourth = ask();
    reads[1]?.resolve(2);
    expect(await Promise.all([second, third])).toEqual([2, 2]);
    await until(() => reads.length === 3);
    reads[2]?.resolve(3);
    expect(await fourth).toBe(3);
  });

  it('share nothing between different keys', async () => {
    const { reads, ask } = controlled();
    const both = Promise.all([ask('one'), ask('other')]);
    reads[0]?.resolve(1);
    reads[1]?.resolve(2);
    expect(await both).toEqual([1, 2]);
  });

  it('fail with the read that they wait for, and a later request reads again', async () => {
    const { reads, ask } = controlled();
    const lost = Promise.allSettled([ask(), ask()]);
    reads[0]?.reject(new Error('lost'));
    expect(await lost).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    void ask();
    expect(reads).toHaveLength(2);
  });

  it('do not wait for a slow read', async () => {
    const { reads, ask } = controlled();
    const slow = ask();
    const since = performance.now();
    const now = jest.spyOn(performance, 'now').mockReturnValue(since + 1_000);
    const fast = ask();
    now.mockRestore();
    reads[1]?.resolve(2);
    expect(await fast).toBe(2);
    reads[0]?.resolve(1);
    expect(await slow).toBe(1);
  });

  it('wait in the line of each account that wants it, and begin with the first turn', async () => {
    const { reads, ask } = controlled(1);
    const first = ['other', 'another', 'more', 'key'].map((key) => ask(key));
    const wanted = [ask('key', bob), ask('key', alice), ask('key', carol)];
    reads[0]?.resolve(0);
    // Alice has three reads before it; bob and carol have none.
    await until(() => reads.length === 2);
    reads[1]?.resolve(1);
    await until(() => reads.length === 3);
    reads[2]?.resolve(2);
    expect(await Promise.all([...wanted, first[3]])).toEqual([2, 2, 2, 2]);
    await until(() => reads.length === 4);
    reads[3]?.resolve(3);
    expect(await first[2]).toBe(3);
  });

  it('are refused by account: the refusal of one leaves the others waiting', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const { reads, ask } = controlled(1);
    void ask('other', carol);
    const early = expect(ask('key', alice)).rejects.toMatchObject({ code: 'service_unavailable' });
    await jest.advanceTimersByTimeAsync(500);
    const late = ask('key', bob);
    await jest.advanceTimersByTimeAsync(500);
    await early;
    reads[0]?.resolve(0);
    await jest.advanceTimersByTimeAsync(0);
    reads[1]?.resolve(1);
    expect(await late).toBe(1);
    jest.useRealTimers();
  });
});
