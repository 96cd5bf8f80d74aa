import { randomUUID } from 'node:crypto';
import {
  type AccountId,
  instant,
  INT64_MAX,
  type Message,
  type MessageId,
  MINUTE,
  MOST_COUNTED,
  newMessageId,
  type Ports,
  type Transaction,
} from '@adoption-store/domain';
import { accountMailQueueSuite, messageQueueSuite } from '@adoption-store/domain/testing';
import {
  ask,
  connectTo,
  createDatabase,
  DatabaseGate,
  expectDatabaseErrors,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type pg from 'pg';
import { DelayedWork } from '../src/database/delayed-work.js';
import { NotificationListener } from '../src/database/notification-listener.js';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

// A message of an unknown account, and one with the id of another.
expectDatabaseErrors('23503', '23505');

accountMailQueueSuite(framework, 'PostgreSQL', openPostgres);

const NOW = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));

const openAccount = ({ accounts }: Ports) =>
  accounts.open({ email: `${randomUUID()}@example.com`, plan: { name: 'free' }, scopes: undefined, createdAt: NOW });

function addTo(ports: Ports, accountId: AccountId, transaction?: Transaction): Promise<Message> {
  const message = { id: newMessageId(ports.cryptography), accountId, text: 'Hello', createdAt: NOW };
  return ports.messages.add(message, transaction);
}

const idsOf = (messages: readonly { readonly id: MessageId }[]) => messages.map(({ id }) => id);

messageQueueSuite(framework, 'PostgreSQL', openPostgres);

describe('messages in PostgreSQL', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let closers: (() => Promise<void>)[];
  beforeEach(async () => {
    database = await createDatabase();
    client = await connectTo(database.url);
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
    await until(() => calls > 0);
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
    // Messages added in between caused no notification, but the watcher is called after the gap.
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
    await writer.messages.claim({ limit: 1, lease: MINUTE });
    expect(await listeners()).toBe(0);
    await Promise.all([watch(worker), watch(worker)]);
    expect(await listeners()).toBe(2);
    await closers.pop()?.();
    await until(async () => (await listeners()) === 0);
  });

  it('that are queued together share notifications', async () => {
    const ports = await openInstance();
    const { id } = await openAccount(ports);
    const watching = await watch(ports);
    const before = watching.calls();
    const start = performance.now();
    await Promise.all(Array.from({ length: 100 }, () => addTo(ports, id)));
    await watching.heard(before);
    // At most one notification in 10 ms.
    expect(watching.calls() - before).toBeLessThanOrEqual((performance.now() - start) / 10 + 2);
  });

  it('are notified after the commit of the transaction that queues them, and not after a rollback', async () => {
    const ports = await openInstance();
    const { id } = await openAccount(ports);
    const watching = await watch(ports);
    const before = watching.calls();
    const request = (key: string) => ({ accountId: id, key, fingerprint: key, now: NOW, expiredUntil: instant(0) });
    const queued = async () => (await client.query(`SELECT FROM messages`)).rowCount;
    const soon = jest.spyOn(DelayedWork.prototype, 'soon');
    await ports.idempotency.once(request('kept'), async (transaction) => {
      await addTo(ports, id, transaction);
      expect(soon).not.toHaveBeenCalled();
      expect([watching.calls(), await queued()]).toEqual([before, 0]);
      return 'queued';
    });
    await watching.heard(before);
    expect(await queued()).toBe(1);
    soon.mockClear();
    const refused = ports.idempotency.once(request('undone'), async (transaction) => {
      await addTo(ports, id, transaction);
      throw new Error('undone');
    });
    await expect(refused).rejects.toThrow('undone');
    expect(soon).not.toHaveBeenCalled();
    expect(await queued()).toBe(1);
    soon.mockRestore();
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
       FROM generate_series(1, 10000) AS number, to_timestamp(number) AS now`,
      [String(id)],
    );
    await client.query('ANALYZE messages');
    const { messages } = await openInstance();
    expect(await messages.claim({ limit: 10, lease: MINUTE })).toHaveLength(10);
    // PostgreSQL's statistics include a connection after it is closed.
    await closers.pop()?.();
    const { rows } = await client.query<{ scanned: string; fetched: string }>(
      `SELECT seq_tup_read AS scanned, idx_tup_fetch AS fetched FROM pg_stat_user_tables WHERE relname = 'messages'`,
    );
    expect(rows).toMatchObject([{ scanned: '0' }]);
    expect(Number(rows[0]?.fetched)).toBeLessThan(100);
  });

  it.each([
    ['messages', 'text', `'Hello'`, ({ messages }: Ports) => messages],
    ['account_mails', 'kind, page, expires_at', `'reset', 'page', now()`, ({ accountMails }: Ports) => accountMails],
  ] as const)(
    'may wait in great numbers: the backlog of %s is still read at once',
    async (table, columns, values, queueOf) => {
      const { id } = await openAccount(await openInstance());
      await client.query(
        `INSERT INTO ${table} (id, account_id, status, due_at, created_at, ${columns})
       SELECT number, $1, 'queued', now, now, ${values}
       FROM generate_series(12000, 1, -1) AS number, to_timestamp(number) AS now`,
        [String(id)],
      );
      await client.query(`ANALYZE ${table}`);
      const ports = await openInstance();
      expect(await queueOf(ports).backlog()).toEqual({ queued: MOST_COUNTED, oldest: instant(1_000) });
      await closers.pop()?.();
      const read = async () => {
        const { rows } = await client.query<{ scanned: string; fetched: string }>(
          `SELECT seq_tup_read AS scanned, idx_tup_fetch AS fetched FROM pg_stat_user_tables WHERE relname = '${table}'`,
        );
        return rows[0] ?? { scanned: '0', fetched: '0' };
      };
      await until(async () => Object.values(await read()).some((count) => count !== '0'));
      expect(await read()).toEqual({ scanned: '0', fetched: String(MOST_COUNTED) });
    },
  );

  it('that are being settled don’t delay the claims of others', async () => {
    const ports = await openInstance();
    const { id: accountId } = await openAccount(ports);
    const [held, free] = [await addTo(ports, accountId), await addTo(ports, accountId)];
    await client.query('BEGIN');
    await client.query('UPDATE messages SET claims = claims + 1 WHERE id = $1', [held.id]);
    const claimed = await ports.messages.claim({ limit: 2, lease: MINUTE });
    expect(idsOf(claimed)).toEqual([free.id]);
    await client.query('COMMIT');
  });
});

it('a listener whose server has vanished connects again, and reports the gap', async () => {
  const database = await createDatabase();
  const gate = await DatabaseGate.open(database.url);
  let reports = 0;
  const listener = new NotificationListener({ connectionString: gate.url }, 'news', () => (reports += 1), 100);
  const notify = () => ask(database.url, 'NOTIFY news');
  await until(() => reports === 1);
  await notify();
  await until(() => reports === 2);
  gate.abandon();
  await notify();
  await until(() => reports === 3);
  await notify();
  await until(() => reports === 4);
  await listener.close();
  gate.shut();
  await database.drop();
});
