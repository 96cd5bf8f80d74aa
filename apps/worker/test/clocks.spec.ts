import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, ProcessClock, temporaryFolder, until } from '@adoption-store/test-support';
import { useWorkers } from './support/workers.js';

const HOUR = 3_600_000;
const CONCURRENCY = 8;

const OPEN_ACCOUNT = `
  INSERT INTO accounts (email, plan, created_at) VALUES ('visitor@example.com', 'free', now())`;

const workers = useWorkers(async (databaseUrl) => {
  await ask(databaseUrl, OPEN_ACCOUNT);
});

describe('workers whose clocks are an hour ahead and an hour behind', () => {
  const folders: Awaited<ReturnType<typeof temporaryFolder>>[] = [];
  const clocks = {} as { ahead: ProcessClock; behind: ProcessClock };
  beforeAll(async () => {
    for (const [name, difference] of [
      ['ahead', HOUR],
      ['behind', -HOUR],
    ] as const) {
      const folder = await temporaryFolder();
      folders.push(folder);
      clocks[name] = new ProcessClock(folder.path, Date.now() + difference);
    }
  });
  afterAll(() => Promise.all(folders.map((folder) => folder.remove())));

  const start = (clock: 'ahead' | 'behind', settings = {}) =>
    workers.start({ ...workers.byMail(), ...clocks[clock].environment, ...settings });

  /** Messages that have waited, as after an outage: by the clock that is behind they are due, too. */
  const waiting = async (count: number) => {
    const ids = await workers.queue(count);
    await workers.client.query(`UPDATE messages SET due_at = now() - interval '2 hours' WHERE status = 'queued'`);
    return ids;
  };

  it('never send the same message twice', async () => {
    workers.sink.trouble = { at: 'data', by: 'hanging' };
    const ids = await waiting(300);
    await start('behind');
    await until(() => workers.sink.offered === CONCURRENCY);
    await start('ahead');
    await until(() => workers.sink.offered === 2 * CONCURRENCY);
    workers.sink.resume();
    await workers.becomeSent(ids);
    expect(workers.received().sort()).toEqual([...ids].sort());
  });

  it.each(['ahead', 'behind'] as const)('%s sends what was queued just now', async (clock) => {
    await start(clock);
    const ids = await workers.queue(3);
    await workers.becomeSent(ids);
    expect(workers.received().sort()).toEqual([...ids].sort());
  });

  it.each([
    ['ahead', 'behind'],
    ['behind', 'ahead'],
  ] as const)(
    '%s leave what they claimed, when they are killed, to the one %s after the lease',
    async (killed, other) => {
      const lease = { MESSAGE_LEASE: '3s' };
      workers.sink.trouble = { at: 'data', by: 'hanging' };
      const ids = await waiting(3);
      const { process: worker } = await start(killed, lease);
      await until(() => workers.sink.offered > 0);
      await worker.stop('SIGKILL');
      workers.sink.resume();
      await start(other, lease);
      await workers.becomeSent(ids);
    },
  );

  it('expire and delete nothing too early, and say why', async () => {
    await workers.client.query(`
      WITH animal AS (INSERT INTO animals (name, category_id, status) VALUES ('Luna', 1, 'pending') RETURNING id)
      INSERT INTO orders (account_id, animal_id, status, created_at, updated_at)
      SELECT (SELECT min(id) FROM accounts), id, 'placed', now() - interval '30 minutes', now() FROM animal`);
    await workers.client.query(`
      INSERT INTO idempotency_records (account_id, key, fingerprint, answer, answered_at)
      SELECT min(id), 'recent', 'fingerprint', 'answer', now() - interval '23 hours 30 minutes' FROM accounts`);
    const { process: worker, health } = await start('ahead', { ORDER_TTL: '1h' });
    for (const loop of ['expire orders', 'purge answers'])
      await worker.prints(
        new RegExp(`"loop":"${loop}","reason":"the clock of this process is 3\\d{3} s ahead of PostgreSQL's"`),
      );
    const { rows } = await workers.client.query(`
      SELECT (SELECT count(*)::integer FROM orders WHERE status = 'placed') AS placed,
        (SELECT count(*)::integer FROM idempotency_records) AS answers`);
    expect(rows).toEqual([{ placed: 1, answers: 1 }]);
    const metrics = await (await fetch(`${health}/metrics`)).text();
    expect(Number(/^clock_skew_seconds (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(3_000);
  });

  it('send a mail that was postponed after its pause, not an hour later', async () => {
    workers.sink.trouble = { at: 'recipient', by: 450 };
    const [id = ''] = await workers.queue(1);
    const { process: worker } = await start('ahead');
    await worker.prints(/"outcome":"postponed"/);
    const { rows } = await workers.client.query<{ pause: number }>(
      'SELECT extract(epoch FROM due_at - now())::float AS pause FROM messages WHERE id = $1',
      [id],
    );
    expect(rows[0]?.pause).toBeLessThan(5.1);
  });
});
