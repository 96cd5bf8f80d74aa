import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApi, type TestApi } from '@adoption-store/api/testing/api';
import { temporaryFolder } from '@adoption-store/test-support';
import pg from 'pg';
import { AVAILABLE, Generated, GENERATORS, versionOf } from './generated-client.js';

const DOCUMENT = join(__dirname, '../../apps/api/clients.md');
const HEAD = [
  '| Generator | Version | Settings | Compiles | List | Add | Get, order | int64 sent | int64 read | Word of tomorrow |',
  '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
];
/** 2^53 + 1, the first that a double rounds. */
const FIRST = 9_007_199_254_740_993n;
/** Of a version to come. */
const LATER = [{ id: 1, name: 'Luna', categoryId: 1, status: 'reserved' }];

type Step<Result> = Result | { readonly failed: string };

interface Outcome {
  readonly listed: Step<readonly string[]>;
  readonly added: Step<string>;
  readonly got: Step<string>;
  readonly ordered: Step<string>;
  readonly later: Step<readonly string[]>;
}

let api: TestApi;
let database: pg.Client;
let description: string;
const later = createServer((_request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(LATER));
});

beforeAll(async () => {
  api = await startApi();
  database = new pg.Client({ connectionString: api.databaseUrl });
  await database.connect();
  description = await (await fetch(`${api.origin}/openapi.json`)).text();
  await new Promise<void>((resolve) => later.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  later.close();
  await database.end();
  await api.close();
});

const rows: string[] = [];

afterAll(() => {
  if (AVAILABLE.length < GENERATORS.length) return;
  console.error([...HEAD, ...rows].join('\n'));
  if (process.env['WRITE_TABLE'] !== '1') return;
  const document = readFileSync(DOCUMENT, 'utf8');
  const table = /^\| Generator .*?\n\n/ms;
  writeFileSync(
    DOCUMENT,
    document.replace(table, () => `${[...HEAD, ...rows].join('\n')}\n\n`),
  );
});

/** The table in the document, without the blanks that align it. */
function documented(): readonly string[] {
  const table = /^\| Generator .*?\n\n/ms.exec(readFileSync(DOCUMENT, 'utf8'))?.[0] ?? '';
  return table.split('\n').map((line) => line.replace(/ +/g, ' '));
}

describe.each(AVAILABLE.map((generator) => [`${generator.name} (${generator.settings})`, generator] as const))(
  'a client by %s',
  (_title, generator) => {
    it('calls the API, and reads and sends int64s as the documentation says', async () => {
      const folder = await temporaryFolder();
      const client = new Generated(generator, folder.path, description);
      client.generate();
      const complaints = client.compilerErrors();
      expect(complaints).toBe('');

      await database.query('TRUNCATE animals, orders CASCADE');
      await database.query(`ALTER SEQUENCE animals_id_seq RESTART WITH ${FIRST}`);
      await database.query(`INSERT INTO animals (id, name, category_id, status) VALUES (1, 'Luna', $1, 'available')`, [
        FIRST,
      ]);
      const output = await client.run({
        API_URL: `${api.origin}/v1`,
        LATER_URL: `http://127.0.0.1:${(later.address() as AddressInfo).port}/v1`,
        API_KEY: api.key,
        CATEGORY_ID: String(FIRST),
      });
      const stored = await database.query<{ category_id: string }>(`SELECT category_id FROM animals WHERE id > 1`);
      const row = rowOf(JSON.parse(output) as Outcome, stored.rows[0]?.category_id);
      rows.push(`| ${[generator.name, versionOf(generator), generator.settings, 'yes', ...row].join(' | ')} |`);
      if (process.env['WRITE_TABLE'] !== '1') expect(documented()).toContain(rows.at(-1));
      await folder.remove();
    });
  },
);

function rowOf({ listed, added, got, ordered, later: words }: Outcome, stored: string | undefined): readonly string[] {
  const works = (...steps: readonly Step<unknown>[]) => (steps.some(hasFailed) ? 'no' : 'yes');
  return [
    works(listed),
    works(added),
    works(got, ordered),
    exactness(stored),
    exactness(hasFailed(listed) ? undefined : listed[0]),
    hasFailed(words) || words[0] !== 'reserved' ? 'no' : 'yes',
  ];
}

function hasFailed(step: Step<unknown>): step is { readonly failed: string } {
  return typeof step === 'object' && step !== null && 'failed' in step;
}

function exactness(value: string | undefined): string {
  if (value === undefined) return 'refused';
  return value === String(FIRST) ? 'exact' : 'rounded';
}
