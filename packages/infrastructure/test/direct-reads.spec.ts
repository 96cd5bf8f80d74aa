import { ask, createDatabase, DatabaseGate, nameOf, type TestDatabase, until } from '@adoption-store/test-support';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { directReads } from '../src/database/data-source.js';
import type { DirectReads } from '../src/database/direct-reads.js';

const PREPARED = { name: 'prepared', text: 'SELECT name FROM pg_prepared_statements', rowMode: 'array' as const };
const SESSION = { text: 'SELECT pg_backend_pid()', rowMode: 'array' as const };

let database: TestDatabase;
let gate: DatabaseGate;
let reads: DirectReads;

beforeEach(async () => {
  database = await createDatabase();
  gate = await DatabaseGate.open(database.url);
  reads = directReads({ connectionString: gate.url, max: 1 });
  await usable();
});
afterEach(async () => {
  await reads.close();
  gate.shut();
  await database.drop();
});

/** Whether a read goes to the session, whatever its outcome. */
function isUsed(): boolean {
  const reading = reads.read(SESSION);
  reading?.catch(() => undefined);
  return reading !== undefined;
}

async function usable(): Promise<void> {
  await until(isUsed);
  // The reads before it are answered too.
  await session();
}

/** Like an address that leads to a standby: new sessions only read. */
function leadToStandby(isStandby: boolean) {
  const change = isStandby ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only';
  return ask(database.url, `BEGIN READ WRITE; ALTER DATABASE ${nameOf(database)} ${change}; COMMIT`);
}

/** The sessions of others than the tests. */
function sessions() {
  const others = 'datname = current_database() AND pid <> pg_backend_pid()';
  return ask<{ pid: number }>(database.url, `SELECT pid FROM pg_stat_activity WHERE ${others}`);
}

async function session(): Promise<unknown> {
  return (await reads.read(SESSION))?.rows[0]?.[0];
}

it('reads share one session, which keeps their prepared statements', async () => {
  const [one, other] = await Promise.all([reads.read(PREPARED), reads.read(PREPARED)]);
  expect(one?.rows).toEqual([['prepared']]);
  expect(other?.rows).toEqual([['prepared']]);
});

it('the session plans its statements as those of a pool do', async () => {
  const settings = await reads.read({
    text: `SELECT current_setting('plan_cache_mode'), current_setting('jit'), current_setting('statement_timeout')`,
    rowMode: 'array',
  });
  expect(settings?.rows).toEqual([['force_generic_plan', 'off', '1500ms']]);
});

it('at most 16 reads wait for it: the next one is for the pooler', async () => {
  const sent = Array.from({ length: 17 }, () => reads.read({ text: 'SELECT pg_sleep(0.001)', rowMode: 'array' }));
  const waiting = sent.filter((reading) => reading !== undefined);
  expect(waiting).toEqual(sent.slice(0, 16));
  await Promise.all(waiting);
  expect(reads.read(SESSION)).toBeDefined();
});

it('a failed read is told its error, and those behind it in the same session are answered', async () => {
  const failing = reads.read({ text: 'SELECT 1 / 0', rowMode: 'array' });
  const behind = reads.read(SESSION);
  await expect(failing).rejects.toThrow('division by zero');
  expect((await behind)?.rows).toHaveLength(1);
});

it('a lost session is of no use until another one is open', async () => {
  const before = await session();
  gate.shut();
  await until(() => !isUsed());
  await gate.reopen();
  await usable();
  expect(await session()).not.toBe(before);
});

it('a session whose server only reads from now on is given up, because its data may be old', async () => {
  const before = await session();
  await reads.read({ text: 'SET default_transaction_read_only = on', rowMode: 'array' });
  await until(() => !isUsed());
  await usable();
  expect(await session()).not.toBe(before);
});

it('a new session whose server only reads is not used', async () => {
  const before = await session();
  await leadToStandby(true);
  reads.leave();
  const seen = new Set<unknown>();
  await until(async () => {
    expect(reads.read(SESSION)).toBeUndefined();
    for (const { pid } of await sessions()) seen.add(pid);
    return seen.size >= 2;
  });
  await leadToStandby(false);
  await usable();
  expect([...seen, before]).not.toContain(await session());
});

it('after the end no session is left, and none is opened', async () => {
  await reads.close();
  expect(reads.read(SESSION)).toBeUndefined();
  expect(await sessions()).toEqual([]);
});
