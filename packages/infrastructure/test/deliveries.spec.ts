import {
  type AccountId,
  decideQueueing,
  instant,
  type Message,
  type MessageId,
  MINUTE,
  MOST_COUNTED,
  type NewMessage,
  newMessageId,
  type Ports,
} from '@adoption-store/domain';
import { accountMailQueueSuite, addMessage, messageQueueSuite } from '@adoption-store/domain/testing';
import {
  connectTo,
  createDatabase,
  expectDatabaseErrors,
  explainingUrl,
  growingCosts,
  statementsDuring,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { closedAfterEach, openAccount, openPostgres, openStore } from './databases.js';
import { framework } from './framework.js';

// A message with the id of another.
expectDatabaseErrors('23505');

accountMailQueueSuite(framework, 'PostgreSQL', openPostgres);

const NOW = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));

function newMessage(ports: Ports, accountId: AccountId): NewMessage {
  return { id: newMessageId(ports.cryptography), accountId, text: 'Hello', createdAt: NOW };
}

function addTo(ports: Ports, accountId: AccountId): Promise<Message> {
  return addMessage(ports, newMessage(ports, accountId));
}

async function claimOf({ messages }: Ports): Promise<readonly MessageId[]> {
  return idsOf(await messages.claim({ limit: 10, lease: MINUTE }));
}

const idsOf = (messages: readonly { readonly id: MessageId }[]) => messages.map(({ id }) => id);

messageQueueSuite(framework, 'PostgreSQL', openPostgres);

describe('messages in PostgreSQL', () => {
  let database: TestDatabase;
  let client: pg.Client;
  const closers = closedAfterEach();
  beforeEach(async () => {
    database = await createDatabase();
    client = await connectTo(database.url);
    closers.push(
      () => database.drop(),
      () => client.end(),
    );
  });

  const openInstance = async () => (await openStore(closers, database.url)).ports;

  it('may wait in great numbers: their backlog is still read at once', async () => {
    const accountId = await openAccount(await openInstance());
    await client.query(
      `INSERT INTO messages (id, account_id, status, due_at, created_at, text)
       SELECT number, $1, 'queued', now, now, 'Hello'
       FROM generate_series(12000, 1, -1) AS number, to_timestamp(number) AS now`,
      [String(accountId)],
    );
    await client.query('ANALYZE messages');
    const { messages } = await openInstance();
    expect(await messages.backlog()).toEqual({ queued: MOST_COUNTED, oldest: instant(1_000) });
    // PostgreSQL's statistics include a connection after it is closed.
    await closers.pop()?.();
    const text = `SELECT seq_tup_read AS scanned, idx_tup_fetch AS fetched FROM pg_stat_user_tables WHERE relname = 'messages'`;
    const read = async () => (await client.query<{ scanned: string; fetched: string }>(text)).rows[0];
    await until(async () => (await read())?.fetched !== '0');
    expect(await read()).toEqual({ scanned: '0', fetched: String(MOST_COUNTED) });
  });

  it.each([
    ['of one account', '$1::bigint'],
    ['of a thousand accounts', '$1::bigint + number % 1000'],
  ])('may wait in great numbers %s: a claim and a new message read a few of them', async (_case, account) => {
    const ports = await openInstance();
    const accountId = await openAccount(ports);
    await client.query(`
      INSERT INTO accounts (email, canonical_email, plan, created_at)
      SELECT email, email, 'free', now() FROM generate_series(1, 12000) AS number, concat('account-', number, '@example.com') AS email;
      INSERT INTO delivery_lines (account_id, queue, turn_at) SELECT id, 'account_mails', 'infinity' FROM accounts`);
    await client.query(
      `INSERT INTO messages (id, account_id, status, due_at, created_at, text)
       SELECT number, ${account}, 'queued', to_timestamp(number), now(), 'Hello' FROM generate_series(1, 12000) AS number`,
      [String(accountId)],
    );
    await client.query('ANALYZE');
    const statements = await statementsDuring(async () => {
      const { messages } = (await openStore(closers, explainingUrl(database.url), { poolSize: 1 })).ports;
      for (const limit of [1, 10]) expect(await messages.claim({ limit, lease: MINUTE })).toHaveLength(limit);
      const queueing = { message: newMessage(ports, accountId), limit: 10 };
      const adding = messages.add(queueing, (state) => decideQueueing(state, queueing));
      await expect(adding).rejects.toMatchObject({ code: 'too_many_messages' });
    });
    const tables = new Set(['messages', 'delivery_lines']);
    expect(statements.flatMap((statement) => growingCosts(statement, tables, 200))).toEqual([]);
    expect(statements.filter(({ text }) => text.includes('delivery_lines'))).not.toEqual([]);
  });

  it('are claimed, though they were being queued when their account had nothing else to send', async () => {
    const ports = await openInstance();
    const accountId = await openAccount(ports);
    await ports.messages.markSent((await addTo(ports, accountId)).id);
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO messages (id, account_id, status, due_at, created_at, text) VALUES ('msg_1', $1, 'queued', now(), now(), 'Hello')`,
      [String(accountId)],
    );
    expect(await claimOf(ports)).toEqual([]);
    await client.query('COMMIT');
    expect(await claimOf(ports)).toEqual(['msg_1']);
    await ports.messages.markSent('msg_1' as MessageId);
    expect(await claimOf(ports)).toEqual([]);
    const { id } = await addTo(ports, accountId);
    expect(await claimOf(ports)).toEqual([id]);
  });

  it('are all claimed, however many are added and released while others are claimed', async () => {
    const ports = await openInstance();
    const accounts = [await openAccount(ports), await openAccount(ports), await openAccount(ports)];
    const claimed = new Set<MessageId>();
    const claimSome = async () => {
      const [first, ...others] = await ports.messages.claim({ limit: 3, lease: MINUTE });
      if (first !== undefined) await ports.messages.release(first);
      for (const { id } of others) claimed.add(id);
    };
    const adding = accounts.map(async (accountId) => {
      for (let count = 0; count < 40; count += 1) await addTo(ports, accountId);
    });
    const claiming = Array.from({ length: 3 }, async () => {
      for (let count = 0; count < 30; count += 1) await claimSome();
    });
    await Promise.all([...adding, ...claiming]);
    for (const { id } of await ports.messages.claim({ limit: 1_000, lease: MINUTE })) claimed.add(id);
    expect(claimed.size).toBe(120);
  });

  it('that are being settled don’t delay the claims of others', async () => {
    const ports = await openInstance();
    const accountId = await openAccount(ports);
    const [held, free] = [await addTo(ports, accountId), await addTo(ports, accountId)];
    await client.query('BEGIN');
    await client.query('UPDATE messages SET claims = claims + 1 WHERE id = $1', [held.id]);
    const claimed = await ports.messages.claim({ limit: 2, lease: MINUTE });
    expect(idsOf(claimed)).toEqual([free.id]);
    await client.query('COMMIT');
  });
});
