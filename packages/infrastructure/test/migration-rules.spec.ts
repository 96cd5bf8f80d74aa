import { describe, expect, it } from '@jest/globals';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { migrations } from '../src/database/migrations/index.js';
import { problemsOf } from './migration-rules.js';

/** Released before there were rules, so it is never edited. */
const LAST_WITHOUT_RULES = 1_700_000_067_000;

/** The statements of `up`. */
async function statementsOf(migration: MigrationInterface): Promise<readonly string[]> {
  const statements: string[] = [];
  const query = (text: string) => {
    statements.push(text);
    return Promise.resolve([]);
  };
  await migration.up({ query } as unknown as QueryRunner);
  return statements;
}

const newer = migrations.filter(({ name }) => Number(name.slice(-13)) > LAST_WITHOUT_RULES);

it('no migration blocks others for long', async () => {
  for (const Migration of newer) {
    const migration: MigrationInterface = new Migration();
    const statements = await statementsOf(migration);
    expect(problemsOf({ statements, isTransaction: migration.transaction !== false })).toEqual([]);
  }
});

describe('a migration is refused that', () => {
  it.each([
    ['CREATE INDEX animals_by_name ON animals (name)', 'CONCURRENTLY'],
    ['CREATE UNIQUE INDEX animals_by_name ON animals (name)', 'CONCURRENTLY'],
    ['CREATE INDEX CONCURRENTLY animals_by_name ON animals (name)', 'transaction = false'],
    ['ALTER TABLE animals ADD CONSTRAINT named CHECK (length(name) > 0)', 'NOT VALID'],
    ['ALTER TABLE orders ADD FOREIGN KEY (animal_id) REFERENCES animals (id)', 'NOT VALID'],
    ['ALTER TABLE animals ADD CONSTRAINT one UNIQUE (name)', 'USING INDEX'],
    ['ALTER TABLE animals ADD COLUMN owner bigint REFERENCES accounts (id)', 'alone'],
    ['ALTER TABLE animals ADD COLUMN code uuid DEFAULT gen_random_uuid()', 'rewrites'],
    ['ALTER TABLE animals ADD COLUMN size integer NOT NULL', 'default'],
    ['ALTER TABLE animals\n  ALTER COLUMN category_id TYPE text', 'rewrites'],
    ['ALTER TABLE animals ALTER COLUMN name SET NOT NULL', 'SET NOT NULL'],
    ['ALTER TABLE animals RENAME COLUMN name TO title', 'version before'],
    [`UPDATE animals SET status = 'sold'`, 'batches'],
    ['DELETE FROM animals', 'batches'],
    ['ALTER TABLE orders DROP CONSTRAINT orders_animal_id_fkey', 'lock_timeout'],
    ['LOCK TABLE animals', 'locks'],
  ])('has %j', (statement, advice) => {
    expect(problemsOf({ statements: [statement], isTransaction: true })).toEqual([expect.stringContaining(advice)]);
  });

  it('locks two tables in a transaction', () => {
    const statements = ['ALTER TABLE animals ADD COLUMN size integer', 'DROP TRIGGER messages_queued ON messages'];
    expect(problemsOf({ statements, isTransaction: true })).toEqual([expect.stringContaining('two tables')]);
    expect(problemsOf({ statements, isTransaction: false })).toEqual([]);
  });

  it('builds an index CONCURRENTLY, and leaves the invalid one of a broken try', () => {
    const statements = ['CREATE INDEX CONCURRENTLY animals_by_name ON animals (name)'];
    expect(problemsOf({ statements, isTransaction: false })).toEqual([expect.stringContaining('broken try')]);
  });
});

it.each([
  [
    true,
    [
      'ALTER TABLE animals ADD COLUMN size integer',
      'ALTER TABLE animals ADD COLUMN tame boolean NOT NULL DEFAULT true',
    ],
  ],
  [true, ["CREATE TABLE toys (id bigint, name text CHECK (name > ''))", 'CREATE INDEX toys_by_name ON toys (name)']],
  [true, ['ALTER TABLE animals ADD CONSTRAINT named CHECK (length(name) > 0) NOT VALID']],
  [true, ['ALTER TABLE animals VALIDATE CONSTRAINT named']],
  [true, ["SET LOCAL lock_timeout = '200ms'", 'ALTER TABLE orders DROP CONSTRAINT orders_animal_id_fkey']],
  [
    false,
    [
      'DROP INDEX CONCURRENTLY IF EXISTS animals_by_name',
      'CREATE INDEX CONCURRENTLY animals_by_name ON animals (name)',
    ],
  ],
  [false, ['UPDATE animals SET size = 1 WHERE id BETWEEN 1 AND 1000']],
])('a migration may have (in a transaction: %s) %j', (isTransaction, statements) => {
  expect(problemsOf({ statements, isTransaction })).toEqual([]);
});
