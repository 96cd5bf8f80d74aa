import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ANIMALS,
  ask,
  createDatabase,
  Running,
  temporaryFolder,
  type TestDatabase,
} from '@adoption-store/test-support';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { animalCommands } from '../src/animals/commands.js';
import { keyCommands } from '../src/key-commands.js';
import { call, useRunningApi } from './support/commands.js';

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  database = await createDatabase();
});
const api = useRunningApi({
  get url() {
    return database.url;
  },
});
afterAll(async () => {
  await database.drop();
  await folder.remove();
});

const query = (text: string) => ask<{ count: number }>(database.url, text);
const animals = (...args: readonly string[]) => call(animalCommands, args, { DATABASE_URL: database.url });
const rowsFrom = (first: number, number: number) =>
  Array.from({ length: number }, (_, index) => `${first + index},Animal ${index},${index % 7},sold\n`).join('');
async function fileOf(text: string): Promise<string> {
  const path = join(folder.path, 'animals.csv');
  await writeFile(path, `id,name,categoryId,status\n${text}`);
  return path;
}

describe('an import', () => {
  beforeEach(() => query('TRUNCATE animals CASCADE; ALTER SEQUENCE animals_id_seq RESTART'));

  it('never gets in the way of animals that are added meanwhile', async () => {
    const limits = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000'];
    const args = ['create', '--email', 'racer@example.com', ...limits];
    const key = (await call(keyCommands, args, { DATABASE_URL: database.url })).stdout.trim();
    let isImporting = true;
    const added: { id: number; name: string }[] = [];
    const adding = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (isImporting) {
          const response = await fetch(`${api.origin}/v1/pets`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: '{"name":"racer","categoryId":1}',
          });
          expect(response.status).toBe(201);
          added.push((await response.json()) as { id: number; name: string });
        }
      }),
    );
    while (added.length < 50) await delay(5);
    // Ids that are still to come for the others, and none.
    const file = await fileOf(rowsFrom(20_000, 5_000) + ',kept,1,sold\n'.repeat(5_000));
    const outcome = await animals('import', file);
    const reached = added.length;
    while (added.length < reached + 50) await delay(5);
    isImporting = false;
    await adding;
    const stored = (await animals('export', '--format', 'ndjson')).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string });
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(stored).toHaveLength(10_000 + added.length);
    expect(added.at(-1)?.id).toBeGreaterThan(25_000);
    expect(stored.filter(({ name }) => name === 'racer')).toEqual(added.sort((one, other) => one.id - other.id));
  });
});

describe('an import that is killed in its middle', () => {
  const SIZE = 20_000;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  it('has added all or nothing, and can be repeated', async () => {
    const file = await fileOf(rowsFrom(1, SIZE));
    let killed = 0;
    const others = `FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
    const statements = () => ask<{ query: string }>(database.url, `SELECT query ${others}`);
    for (let round = 0; round < 10; round += 1) {
      const stage = [/^\s*COPY imported_animals/, /^\s*SELECT line/, /^\s*INSERT INTO animals/][round % 3] ?? /./;
      const running = new Running(ANIMALS, ['import', file], { DATABASE_URL: database.url });
      const hasBegun = async () => (await statements()).some(({ query }) => stage.test(query));
      while (!(await hasBegun()) && running.child.exitCode === null) await delay(1);
      killed += running.child.exitCode === null ? 1 : 0;
      await running.stop('SIGKILL');
      // The server ends the session once it notices.
      while ((await statements()).length > 0) await delay(5);
      const [row] = await ask<{ count: number }>(database.url, 'SELECT count(*)::int FROM animals');
      expect([0, SIZE]).toContain(row?.count);
      if (row?.count === SIZE) await ask(database.url, 'TRUNCATE animals CASCADE');
    }
    expect(killed).toBeGreaterThanOrEqual(8);
    expect(await call(animalCommands, ['import', file], { DATABASE_URL: database.url })).toMatchObject({ code: 0 });
  });
});
