import { createDatabase, EMPTY, type TestDatabase } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Baseline1700000100000 } from '../src/database/baseline/index.js';
import { migrate } from '../src/database/migrate.js';
import { firstRowsOf, nameIn, schemaOf } from './schema-lines.js';

/** What the migrations leave behind and the baseline doesn't make, each with why. There is no other difference. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'function forget_canonical_email()': 'It served a version that changed an address without its canonical form.',
  'trigger accounts.accounts_forget_canonical_email': 'It called that function.',
  'function is_ordered(bigint)': 'Nothing calls it.',
  'function known_category(bigint)': 'Nothing calls it.',
  'function may_place_order(bigint,integer)': 'Nothing calls it.',
};

describe('a database of the baseline', () => {
  let baseline: TestDatabase;
  let migrated: TestDatabase;
  beforeAll(async () => {
    [baseline, migrated] = [await createDatabase(EMPTY), await createDatabase(EMPTY)];
    const source = new DataSource({
      type: 'postgres',
      url: baseline.url,
      migrations: [Baseline1700000100000],
      migrationsTableName: 'migrations',
      installExtensions: false,
    });
    await source.initialize();
    await source.runMigrations({ transaction: 'each' });
    await source.destroy();
    await migrate({ connectionString: migrated.url });
  });
  afterAll(async () => {
    await baseline.drop();
    await migrated.drop();
  });

  it('has the schema that the migrations make, by name, without exactly what is listed', async () => {
    const lines = await schemaOf(migrated.url);
    const isLeftOut = (line: string) => nameIn(line) in LEFT_OUT;
    expect(lines.filter(isLeftOut).map(nameIn).sort()).toEqual(Object.keys(LEFT_OUT).sort());
    expect(await schemaOf(baseline.url)).toEqual(lines.filter((line) => !isLeftOut(line)));
  });

  it('has the same first rows', async () => {
    expect(await firstRowsOf(baseline.url)).toEqual(await firstRowsOf(migrated.url));
  });
});
