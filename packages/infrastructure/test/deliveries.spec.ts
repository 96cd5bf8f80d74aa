import {
  type AccountId,
  instant,
  type Message,
  type MessageId,
  MINUTE,
  MOST_COUNTED,
  newMessageId,
  type Ports,
} from '@adoption-store/domain';
import { accountMailQueueSuite, messageQueueSuite } from '@adoption-store/domain/testing';
import {
  connectTo,
  createDatabase,
  expectDatabaseErrors,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { openInfrastructure } from '../src/open-infrastructure.js';
import { closedAfterEach, openAccount, openPostgres } from './databases.js';
import { framework } from './framework.js';

// A message with the id of another.
expectDatabaseErrors('23505');

accountMailQueueSuite(framework, 'PostgreSQL', openPostgres);

const NOW = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));

function addTo(ports: Ports, accountId: AccountId): Promise<Message> {
  return ports.messages.add({ id: newMessageId(ports.cryptography), accountId, text: 'Hello', createdAt: NOW });
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

  async function openInstance(): Promise<Ports> {
    const config = { databaseUrl: database.url, poolSize: 4 };
    const { ports, close } = await openInfrastructure(config);
    closers.push(close);
    return ports;
  }

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
