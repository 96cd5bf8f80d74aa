import type { AccountId } from '@adoption-store/domain';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AccountTurns } from '../../src/http/operations/account-turns.js';

const [alice, bob, carol] = [1n, 2n, 3n] as AccountId[] as [AccountId, AccountId, AccountId];

describe('turns of accounts', () => {
  let begun: string[];
  let ends: Map<string, () => void>;
  let turns: AccountTurns;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    begun = [];
    ends = new Map();
    turns = new AccountTurns({ total: 3, perAccount: 2, longestWait: 1_000 });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Work that ends when the test ends it. */
  function run(account: AccountId, name: string): Promise<string> {
    return turns.run(account, () => {
      begun.push(name);
      return new Promise((resolve) => {
        ends.set(name, () => {
          resolve(name);
        });
      });
    });
  }

  async function end(name: string): Promise<void> {
    ends.get(name)?.();
    await jest.advanceTimersByTimeAsync(0);
  }

  it('an account has a few works at a time; the others wait in their order, while another account begins at once', async () => {
    const works = ['a1', 'a2', 'a3', 'a4'].map((name) => run(alice, name));
    void run(bob, 'b1');
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    for (const name of ['a2', 'a1', 'a3', 'a4']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
    expect(await Promise.all(works)).toEqual(['a1', 'a2', 'a3', 'a4']);
  });

  it('accounts with waiting work take turns', async () => {
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run(alice, name);
    for (const name of ['b1', 'b2', 'b3']) void run(bob, name);
    void run(carol, 'c1');
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    for (const name of ['a1', 'b1', 'a2']) await end(name);
    expect(begun.slice(3)).toEqual(['a3', 'b2', 'c1']);
  });

  it('work that fails ends its turn', async () => {
    const failing = ['one', 'other', 'third'].map((name) => turns.run(alice, () => Promise.reject(new Error(name))));
    expect(await Promise.allSettled(failing)).toMatchObject(
      ['one', 'other', 'third'].map((message) => ({ status: 'rejected', reason: { message } })),
    );
  });

  it('work that has waited too long never runs, and the next of its account does', async () => {
    for (const name of ['a1', 'a2']) void run(alice, name);
    const late = expect(run(alice, 'late')).rejects.toMatchObject({ code: 'service_unavailable' });
    await jest.advanceTimersByTimeAsync(500);
    void run(alice, 'in time');
    await jest.advanceTimersByTimeAsync(500);
    await late;
    await end('a1');
    expect(begun).toEqual(['a1', 'a2', 'in time']);
  });

  it('work that would wait too long, by what the account’s work takes lately, is refused at once, but no other account’s', async () => {
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run(alice, name);
    await jest.advanceTimersByTimeAsync(400);
    await end('a1');
    // In a second it has five more turns of 400 ms. One work waits already.
    for (const name of ['a5', 'a6', 'a7', 'a8', 'a9']) void run(alice, name).catch(() => undefined);
    await expect(run(alice, 'refused')).rejects.toMatchObject({ code: 'service_unavailable' });
    void run(bob, 'b1');
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1']);
  });
});
