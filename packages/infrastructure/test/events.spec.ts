import {
  type AccountId,
  DAY,
  decideChange,
  EVENT_TYPES,
  type EventPosition,
  instant,
  later,
  newAnimal,
} from '@adoption-store/domain';
import { eventFeedSuite } from '@adoption-store/domain/testing';
import { ask } from '@adoption-store/test-support';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TypeOrmAnimalRepository } from '../src/animals/typeorm-animal-repository.js';
import { inTransaction } from '../src/database/transactions.js';
import { addEvents } from '../src/events/outbox.js';
import { PostgresEventFeed } from '../src/events/postgres-event-feed.js';
import { type Database, openDatabase, openPostgres } from './databases.js';
import { framework } from './framework.js';

eventFeedSuite(framework, 'PostgreSQL', async () => {
  const opened = await openPostgres();
  const letPass = async (milliseconds: number) => {
    await ask(opened.url, `UPDATE events SET created_at = created_at - ${milliseconds} * interval '1 millisecond'`);
  };
  return { ports: opened.ports, letPass, close: opened.close };
});

describe('an event feed (PostgreSQL)', () => {
  let database: Database;
  let feed: PostgresEventFeed;
  let animals: TypeOrmAnimalRepository;
  beforeAll(async () => {
    database = await openDatabase();
    feed = new PostgresEventFeed(database.dataSource);
    animals = new TypeOrmAnimalRepository(database.dataSource, 'open');
  });
  beforeEach(() => feed.publish(1_000));
  afterAll(() => database.close());

  const add = (name: string, transaction?: Parameters<TypeOrmAnimalRepository['add']>[1]) =>
    animals.add(newAnimal({ name, categoryId: 1n }), transaction);
  const list = (after?: EventPosition) =>
    feed.list({ accountId: 1n as AccountId, types: EVENT_TYPES, after, limit: 100 });
  const namesBehind = async (after: EventPosition) =>
    (await list(after)).events.map(({ data }) => (JSON.parse(data) as { name: string }).name);

  it('shows a reader that is already further on the event of a transaction that began earlier', async () => {
    const start = (await feed.end()).position;
    const passed = await inTransaction(database.dataSource, async (_manager, transaction) => {
      await add('early', transaction);
      await add('late');
      await feed.publish(1_000);
      expect(await namesBehind(start)).toEqual(['late']);
      return (await feed.end()).position;
    });
    await feed.publish(1_000);
    expect(await namesBehind(passed)).toEqual(['early']);
  });

  it('has a time of each event at which its transaction had the row of what it changes, not one at which it began', async () => {
    const start = (await feed.end()).position;
    const luna = await add('Luna');
    const renamed = (name: string) => ({ type: 'pet.changed', data: { ...luna, name } }) as const;
    await inTransaction(database.dataSource, async (manager) => {
      await manager.query('SELECT now()');
      const edit = { id: luna.id, change: { name: 'Milo' } };
      await animals.change(luna.id, (state) => decideChange(state, edit));
      await addEvents(manager, [renamed('Nala')]);
    });
    await feed.publish(1_000);
    expect(await namesBehind(start)).toEqual(['Luna', 'Milo', 'Nala']);
    const times = "SELECT position FROM events WHERE data ->> 'id' = $1 ORDER BY ";
    const [byTime, byPlace] = [`${times} created_at`, `${times} position`].map((text) =>
      database.dataSource.query<unknown[]>(text, [String(luna.id)]),
    );
    expect(await byTime).toEqual(await byPlace);
  });

  it('waits in turn while somebody else publishes, but not longer than its caller wants', async () => {
    const start = (await feed.end()).position;
    await add('Luna');
    const waiting = await database.dataSource.transaction(async (manager) => {
      await manager.query('SELECT FROM event_feed FOR UPDATE');
      expect(await feed.publish(1_000, 30)).toBe(0);
      expect(await list(start)).toMatchObject({ events: [], end: { position: start }, hasUnpublished: true });
      // Not awaited here, as it waits for the end of this transaction.
      return { publishing: feed.publish(1_000) };
    });
    expect(await waiting.publishing).toBe(1);
  });

  it('publishes for many callers at once, and for each what was stored before it asked', async () => {
    const start = (await feed.end()).position;
    const transactions = jest.spyOn(database.dataSource, 'transaction');
    const poll = async (name: string) => {
      await add(name);
      await feed.publish(1_000, 100);
      return namesBehind(start);
    };
    const names = Array.from({ length: 40 }, (_, index) => `animal ${index}`);
    const seen = await Promise.all(names.map(poll));
    names.forEach((name, index) => {
      expect(seen[index]).toContain(name);
    });
    expect(transactions.mock.calls.length).toBeLessThanOrEqual(names.length / 4);
    transactions.mockRestore();
  });

  it('publishes although somebody holds the rows of every webhook', async () => {
    await ask(
      database.url,
      `
      INSERT INTO accounts (email, plan, created_at) VALUES ('dev@example.com', 'free', now());
      INSERT INTO webhooks (id, account_id, url, status, secret, secret_key, created_at, updated_at)
      SELECT 'whk_' || n, (SELECT id FROM accounts), 'https://example.com', 'enabled', '', '', now(), now()
      FROM generate_series(1, 10) AS n`,
    );
    await add('Luna');
    await database.dataSource.transaction(async (manager) => {
      await manager.query('SELECT FROM webhooks FOR UPDATE');
      expect(await feed.publish(1_000)).toBe(1);
    });
  });

  it('purges in portions, and keeps an old event that was published behind a younger one, so that none is missing', async () => {
    await ask(
      database.url,
      `
      TRUNCATE events; UPDATE event_feed SET last_position = 3000, purged_position = 0;
      INSERT INTO events (position, sequence, id, account_id, type, created_at, data)
      SELECT n, n, gen_random_uuid(), 0, 'pet.added', CASE n WHEN 2500 THEN now() ELSE now() - interval '2 days' END, '{}'
      FROM generate_series(1, 3000) AS n`,
    );
    const dayAgo = later(instant(Date.now()), -DAY);
    expect(await feed.purge(dayAgo)).toBe(2_499);
    expect(await list()).toMatchObject({
      purged: 2_499n,
      end: { position: 3_000n },
      events: { length: 100, 0: { position: 2_500n } },
    });
    expect(await feed.purge(dayAgo)).toBe(0);
    expect(await feed.purge(later(instant(Date.now()), DAY))).toBe(501);
    expect(await list()).toMatchObject({ purged: 3_000n, end: { position: 3_000n }, events: [] });
  });
});
