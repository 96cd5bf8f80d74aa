import { createHash } from 'node:crypto';
import { DAY, HOUR, instant, later, MINUTE } from '@adoption-store/domain';
import { attemptCounterSuite } from '@adoption-store/domain/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PostgresAttemptCounter } from '../src/accounts/postgres-attempt-counter.js';
import { type Database, openDatabase, openPostgres } from './databases.js';
import { framework } from './framework.js';

attemptCounterSuite(framework, 'PostgreSQL', openPostgres);

describe('attempts that are counted by processes whose clocks differ', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase();
  });
  afterAll(() => database.close());

  it.each([
    ['ahead', HOUR],
    ['behind', -HOUR],
    ['far ahead', 400 * DAY],
  ])('are not reset by a process whose clock is %s', async (which, ahead) => {
    const counter = new PostgresAttemptCounter(database.dataSource);
    const limit = { subjectHash: createHash('sha256').update(which).digest('hex'), most: 3, within: 15 * MINUTE };
    const allowed = { right: 0, wrong: 0 };
    for (let turn = 0; turn < 20; turn += 1) {
      const now = instant(Date.now());
      if ((await counter.count({ ...limit, now })) === undefined) allowed.right += 1;
      if ((await counter.count({ ...limit, now: later(now, ahead) })) === undefined) allowed.wrong += 1;
    }
    expect(allowed.right).toBeLessThanOrEqual(limit.most);
    // Each attempt by the right clock removes those that lie ahead.
    expect(allowed.wrong).toBeLessThanOrEqual(limit.most * (limit.most + 1));
  });
});
