import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type AccountId,
  type Claim,
  HOUR,
  type Instant,
  instant,
  INT64_MAX,
  later,
  type Message,
  type MessageId,
  type MessageQueue,
  MINUTE,
  newMessageId,
  type Ports,
  SECOND,
} from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { createDatabase, type TestDatabase, until } from '@adoption-store/test-support';
import fc from 'fast-check';
import pg from 'pg';
import { type Adapters, everyAdapter } from './adapters.js';

const NOW = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));
const EVERYTHING = 100_000;

const openAccount = ({ accounts }: Ports) =>
  accounts.open({ email: `${randomUUID()}@example.com`, plan: { name: 'free' }, createdAt: NOW });

function addTo(ports: Ports, accountId: AccountId, text = 'Hello', createdAt = NOW): Promise<Message> {
  return ports.messages.add({ id: newMessageId(ports.cryptography), accountId, text, createdAt });
}

const idsOf = (messages: readonly { readonly id: MessageId }[]) => messages.map(({ id }) => id);

describe.each(everyAdapter)('a message queue (%s)', (_name, open) => {
  let adapters: Adapters;
  let messages: MessageQueue;
  let account: Account;
  beforeAll(async () => {
    adapters = await open();
    messages = adapters.ports.messages;
    account = await openAccount(adapters.ports);
  });
  afterAll(() => adapters.close());
  // Each test begins without due messages.
  afterEach(async () => {
    for (const { id } of await claim({ now: instant(Date.UTC(2100, 0)) })) await messages.markSent(id);
  });

  const add = (text?: string, createdAt?: Instant) => addTo(adapters.ports, account.id, text, createdAt);
  const claim = ({ limit = EVERYTHING, now = NOW, until = later(now, MINUTE) } = {}) =>
    messages.claim({ limit, now, until });
  const claimOne = async (now = NOW) => {
    const [claimed, ...others] = await claim({ now });
    if (claimed === undefined || others.length > 0) throw new Error('not one message was claimed');
    return claimed;
  };
  const statusOf = async (id: MessageId) => (await messages.findById(account.id, id))?.status;

  it('returns the added message, queued', async () => {
    const message = await add();
    expect(message).toEqual({ id: message.id, accountId: account.id, text: 'Hello', status: 'queued', createdAt: NOW });
    expect(await messages.findById(account.id, message.id)).toEqual(message);
  });

  it('deletes sent and failed messages up to an instant in batches, and never a queued one', async () => {
    const old = later(NOW, -HOUR);
    const [sent, failed, queued, young] = [
      await add('sent', old),
      await add('failed', old),
      await add('queued', old),
      await add('young', later(old, 1)),
    ];
    for (const { id } of [sent, young]) await messages.markSent(id);
    const claim1 = (await claim()).find(({ id }) => id === failed.id);
    if (claim1 !== undefined) await messages.markFailed(claim1);
    expect(await messages.forget(later(old, -1))).toBe(0);
    expect(await messages.forget(old)).toBe(2);
    expect(await messages.forget(old)).toBe(0);
    expect([await statusOf(sent.id), await statusOf(failed.id)]).toEqual([undefined, undefined]);
    expect([await statusOf(queued.id), await statusOf(young.id)]).toEqual(['queued', 'sent']);
  });

  it('passes the trace of its queueing to the claimer', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const id = newMessageId(adapters.ports.cryptography);
    const message = await messages.add({ id, accountId: account.id, text: 'Hello', createdAt: NOW, traceparent });
    expect(message).not.toHaveProperty('traceparent');
    expect((await claimOne()).traceparent).toBe(traceparent);
    await messages.markSent(id);
    await add();
    expect((await claimOne()).traceparent).toBeUndefined();
  });

  it('returns undefined for another account’s message and for an unknown one', async () => {
    const { id } = await add();
    const other = await openAccount(adapters.ports);
    expect(await messages.findById(other.id, id)).toBeUndefined();
    expect(await messages.findById(INT64_MAX as AccountId, id)).toBeUndefined();
    for (const unknown of ['msg_0', '', 'msg_\0', '\ud800', `${id} `, 'm'.repeat(10_000)]) {
      expect(await messages.findById(account.id, unknown as MessageId)).toBeUndefined();
    }
  });

  it('keeps every text exactly, for readers and claimers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), async (drawn) => {
        const text = drawn.replace(/\p{Surrogate}|\0/gu, '?');
        const { id } = await add(text);
        expect(await messages.findById(account.id, id)).toMatchObject({ text });
        expect(await claimOne()).toEqual({
          id,
          accountId: account.id,
          text,
          createdAt: NOW,
          number: 1,
          failures: 0,
          from: account.email,
        });
        await messages.markSent(id);
      }),
      { numRuns: 50 },
    );
    const longest = '🐈'.repeat(4_096);
    await add(longest);
    expect(await claimOne()).toMatchObject({ text: longest });
  });

  it('refuses a second message with the same id, and keeps the first', async () => {
    const { id } = await add('first');
    await expect(messages.add({ id, accountId: account.id, text: 'second', createdAt: NOW })).rejects.toThrow();
    expect(await messages.findById(account.id, id)).toMatchObject({ text: 'first' });
  });

  it('claims due messages, the longest due first, and no more than asked for', async () => {
    const at = (milliseconds: number) => later(NOW, milliseconds);
    const second = await add('second', at(-5));
    const first = await add('first', at(-HOUR));
    const fourth = await add('fourth', NOW);
    const third = await add('third', at(-1));
    const notYet = await add('not yet', at(1));
    expect(await claim({ limit: 0 })).toEqual([]);
    expect(idsOf(await claim({ limit: 3 }))).toEqual([first.id, second.id, third.id]);
    expect(idsOf(await claim({ limit: 3 }))).toEqual([fourth.id]);
    expect(idsOf(await claim({ now: at(1) }))).toEqual([notYet.id]);
  });

  it('claims a message again only after its claim has expired, with the next claim number', async () => {
    const { id } = await add();
    let now = NOW;
    for (const number of [1, 2, 3]) {
      expect(await claim({ now })).toMatchObject([{ id, number, failures: 0 }]);
      expect(await claim({ now: later(now, MINUTE - 1) })).toEqual([]);
      now = later(now, MINUTE);
    }
    expect(await statusOf(id)).toBe('queued');
  });

  it('claims a postponed message when it is due again, in that order', async () => {
    const [one, other] = [await add('one', later(NOW, -2)), await add('other', later(NOW, -1))];
    const [claimOfOne, claimOfOther] = await claim();
    if (claimOfOne === undefined || claimOfOther === undefined) throw new Error('two messages were due');
    await messages.postpone(claimOfOne, later(NOW, 2 * HOUR));
    await messages.postpone(claimOfOther, later(NOW, HOUR));
    expect(await claim({ now: later(NOW, HOUR - 1) })).toEqual([]);
    expect(await claim({ now: later(NOW, 2 * HOUR) })).toMatchObject([
      { id: other.id, number: 2, failures: 1 },
      { id: one.id, number: 2, failures: 1 },
    ]);
  });

  it('claims a released message at once, without a failed attempt', async () => {
    const { id } = await add();
    await messages.release(await claimOne(), NOW);
    expect(await claim()).toMatchObject([{ id, number: 2, failures: 0 }]);
  });

  it.each([
    ['sent', (claimed: Claim) => messages.markSent(claimed.id)],
    ['failed', (claimed: Claim) => messages.markFailed(claimed)],
  ])('never claims a message again once it has been %s', async (status, end) => {
    const { id } = await add();
    await end(await claimOne());
    expect(await statusOf(id)).toBe(status);
    expect(await claim({ now: later(NOW, 1_000 * HOUR) })).toEqual([]);
    expect(await messages.backlog()).toEqual({ queued: 0, oldest: undefined });
  });

  it('ignores a claim that a later one has followed, except when the message was sent', async () => {
    const { id } = await add();
    const stale = await claimOne();
    const now = later(NOW, MINUTE);
    const current = await claimOne(now);
    await messages.postpone(stale, now);
    await messages.release(stale, now);
    await messages.markFailed(stale);
    expect(await statusOf(id)).toBe('queued');
    expect(await claim({ now })).toEqual([]);
    await messages.markSent(stale.id);
    await messages.postpone(current, now);
    await messages.markFailed(current);
    expect(await statusOf(id)).toBe('sent');
    expect(await claim({ now: later(now, HOUR) })).toEqual([]);
  });

  it('marks a message sent even if another worker gave it up', async () => {
    const { id } = await add();
    await messages.markFailed(await claimOne());
    await messages.markSent(id);
    expect(await statusOf(id)).toBe('sent');
  });

  it('reports how many messages wait, including claimed ones, and since when', async () => {
    expect(await messages.backlog()).toEqual({ queued: 0, oldest: undefined });
    await add('younger', later(NOW, -MINUTE));
    await add('older', later(NOW, -HOUR));
    const [claimed] = await claim({ limit: 1 });
    expect(await messages.backlog()).toEqual({ queued: 2, oldest: later(NOW, -HOUR) });
    await messages.markSent(claimed?.id ?? ('' as MessageId));
    expect(await messages.backlog()).toEqual({ queued: 1, oldest: later(NOW, -MINUTE) });
  });

  it('never gives one message to two concurrent claimers, and leaves none out', async () => {
    const added: Message[] = [];
    while (added.length < 2_000) {
      const portion = Array.from({ length: 100 }, (_, index) => add('Hello', later(NOW, -added.length - index)));
      added.push(...(await Promise.all(portion)));
    }
    const claimed: MessageId[] = [];
    const claimers = Array.from({ length: 20 }, async (_, index) => {
      for (let batch = await claim({ limit: 1 + index }); batch.length > 0; batch = await claim({ limit: 1 + index })) {
        claimed.push(...idsOf(batch));
        expect(batch.map(({ createdAt }) => createdAt)).toEqual(
          batch.map(({ createdAt }) => createdAt).sort((one, other) => one - other),
        );
      }
    });
    await Promise.all(claimers);
    // A claim that came while others held the last ones has returned none.
    claimed.push(...idsOf(await claim()));
    expect(claimed.sort()).toEqual(idsOf(added).sort());
  });

  it('never gives an expired claim to two concurrent claimers', async () => {
    await Promise.all(Array.from({ length: 300 }, () => add()));
    const lost = await claim();
    const now = later(NOW, MINUTE);
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim({ now, limit: 100 })));
    const claimed = [...claims.flat(), ...(await claim({ now }))];
    expect(idsOf(claimed).sort()).toEqual(idsOf(lost).sort());
    expect(new Set(claimed.map(({ number }) => number))).toEqual(new Set([2]));
  });

  it('notifies watchers of each new message, until they stop', async () => {
    const calls = [0, 0];
    const watched = (index: 0 | 1) => async () => {
      const before = calls[index] ?? 0;
      await add();
      await until(() => (calls[index] ?? 0) > before);
    };
    const ends = [0, 1].map((index) => messages.watch(() => (calls[index] = (calls[index] ?? 0) + 1)));
    // It may miss messages until it listens.
    if (_name === 'PostgreSQL') await until(() => calls.every((count) => count > 0));
    await watched(0)();
    await watched(1)();
    await ends[0]?.();
    const [ended] = calls;
    await watched(1)();
    expect(calls[0]).toBe(ended);
    await ends[1]?.();
  });
});

describe('messages in PostgreSQL', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let closers: (() => Promise<void>)[];
  beforeEach(async () => {
    database = await createDatabase();
    client = new pg.Client(database.url);
    await client.connect();
    closers = [() => database.drop(), () => client.end()];
  });
  afterEach(async () => {
    for (const close of closers.reverse()) await close();
  });

  async function openInstance(): Promise<Ports> {
    const config = { databaseUrl: database.url, poolSize: 4 };
    const { ports, close } = await openInfrastructure(config);
    closers.push(close);
    return ports;
  }

  /** Counts the calls of a watcher, from when it listens. */
  async function watch({ messages }: Ports) {
    let calls = 0;
    const end = messages.watch(() => (calls += 1));
    await until(() => calls === 1);
    const heard = async (after: number) => {
      await until(() => calls > after);
      return calls;
    };
    return { calls: () => calls, heard, end };
  }

  const LISTENERS = `
    FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN message_queued' AND state = 'idle'`;
  const listeners = async () => (await client.query(`SELECT ${LISTENERS}`)).rowCount;

  it('are notified across instances, even after the connection was cut', async () => {
    const [writer, worker] = [await openInstance(), await openInstance()];
    const { id } = await openAccount(writer);
    const watching = await watch(worker);
    await addTo(writer, id);
    const before = await watching.heard(1);
    await client.query(`SELECT pg_terminate_backend(pid) ${LISTENERS}`);
    // No notification came for messages added in between, but a gap is reported as a call too.
    const again = await watching.heard(before);
    expect(await listeners()).toBe(1);
    await addTo(writer, id);
    await watching.heard(again);
    await watching.end();
    await until(async () => (await listeners()) === 0);
  });

  it('are listened for only by watchers, whose connections end with the instance', async () => {
    const [writer, worker] = [await openInstance(), await openInstance()];
    await addTo(writer, (await openAccount(writer)).id);
    await writer.messages.claim({ limit: 1, now: NOW, until: later(NOW, MINUTE) });
    expect(await listeners()).toBe(0);
    await Promise.all([watch(worker), watch(worker)]);
    expect(await listeners()).toBe(2);
    await closers.pop()?.();
    await until(async () => (await listeners()) === 0);
  });

  it('are notified within milliseconds', async () => {
    const ports = await openInstance();
    const { id } = await openAccount(ports);
    const watching = await watch(ports);
    const waits: number[] = [];
    for (let round = 0; round < 21; round += 1) {
      const before = watching.calls();
      const start = performance.now();
      await addTo(ports, id);
      while (watching.calls() === before) await new Promise(setImmediate);
      waits.push(performance.now() - start);
    }
    // Not the median, because other work on the machine only adds time. Polling once a second would be this fast once
    // in 20 times.
    expect(waits.sort((one, other) => one - other)[6]).toBeLessThan(50);
  });

  it('are notified once per transaction, and not after a rollback', async () => {
    const ports = await openInstance();
    const { id } = await openAccount(ports);
    const watching = await watch(ports);
    const insert = (name: string) =>
      client.query(
        `INSERT INTO messages (id, account_id, text, status, claims, due_at, created_at)
         SELECT $1 || number, $2, 'Hello', 'queued', 0, now(), now() FROM generate_series(1, 100) AS number`,
        [name, String(id)],
      );
    await client.query('BEGIN');
    await insert('one ');
    await client.query('ROLLBACK');
    await client.query('BEGIN');
    await insert('two ');
    await insert('three ');
    await client.query('COMMIT');
    await watching.heard(1);
    // Notifications arrive in the order of their transactions.
    await addTo(ports, id);
    await watching.heard(2);
    expect(watching.calls()).toBe(3);
    expect(await ports.messages.backlog()).toMatchObject({ queued: 201 });
  });

  it('of an unknown account are not stored, and cause no notification', async () => {
    const ports = await openInstance();
    const { id } = await openAccount(ports);
    const watching = await watch(ports);
    await expect(addTo(ports, INT64_MAX as AccountId)).rejects.toThrow();
    expect(await ports.messages.backlog()).toEqual({ queued: 0, oldest: undefined });
    await addTo(ports, id);
    expect(await watching.heard(1)).toBe(2);
  });

  it('are claimed by reading only due ones, however many there are', async () => {
    const { id } = await openAccount(await openInstance());
    await client.query(
      `INSERT INTO messages (id, account_id, text, status, claims, due_at, created_at)
       SELECT number, $1, 'Hello', CASE WHEN number % 100 = 0 THEN 'queued' ELSE 'sent' END, 1, now, now
       FROM generate_series(1, 100000) AS number, to_timestamp(number) AS now`,
      [String(id)],
    );
    await client.query('ANALYZE messages');
    const { messages } = await openInstance();
    expect(await messages.claim({ limit: 10, now: NOW, until: later(NOW, MINUTE) })).toHaveLength(10);
    // PostgreSQL's statistics include a connection after it is closed.
    await closers.pop()?.();
    const { rows } = await client.query<{ scanned: string; fetched: string }>(
      `SELECT seq_tup_read AS scanned, idx_tup_fetch AS fetched FROM pg_stat_user_tables WHERE relname = 'messages'`,
    );
    expect(rows).toMatchObject([{ scanned: '0' }]);
    expect(Number(rows[0]?.fetched)).toBeLessThan(100);
  });

  it('that are being settled don’t delay the claims of others', async () => {
    const ports = await openInstance();
    const { id: accountId } = await openAccount(ports);
    const [held, free] = [await addTo(ports, accountId), await addTo(ports, accountId, 'Hello', later(NOW, 1))];
    await client.query('BEGIN');
    await client.query('UPDATE messages SET claims = claims + 1 WHERE id = $1', [held.id]);
    const now = later(NOW, SECOND);
    const claimed = await ports.messages.claim({ limit: 2, now, until: later(now, MINUTE) });
    expect(idsOf(claimed)).toEqual([free.id]);
    await client.query('COMMIT');
  });
});
