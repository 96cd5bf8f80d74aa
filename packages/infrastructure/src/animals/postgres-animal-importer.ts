import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AnimalId,
  type AnimalImporter,
  type AnimalToImport,
  type CategoryPolicy,
  type ImportOutcome,
  MOST_REPORTED,
  type InvalidRows,
  unknownCategory,
} from '@adoption-store/domain';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type DatabaseConnection, newClient, prepareClient } from '../database/data-source.js';
import { INSUFFICIENT_PRIVILEGE, isConnectionLost, LOCK_NOT_AVAILABLE, sqlState } from '../database/database-errors.js';
import { columns, storeAdditions } from './additions.js';
import { rowOf } from './animal.schema.js';

/** The database ends an import after an hour, in case its process is frozen. Replaces shorter timeouts of the role. */
const LIMITS = { statement_timeout: '1h', idle_in_transaction_session_timeout: '1h' };

/** An arbitrary constant that must never change: an import holds this lock while it stores animals. */
const IMPORT_LOCK = 4_711_120_366;

/** How long the import waits for transactions that have drawn an id. Meanwhile all additions of animals wait for it. */
const LOCK_TIMEOUT = '500ms';
const MOST_TRIES = 30;
/** Milliseconds between two tries. */
const PAUSE = 1_000;

// LIKE copies the columns and checks of `animals`, also those that are added later. `position` keeps the file's order.
const STAGE = `
  CREATE TEMPORARY TABLE imported_animals (
    position bigint NOT NULL, line bigint NOT NULL, LIKE animals INCLUDING CONSTRAINTS INCLUDING DEFAULTS
  );
  ALTER TABLE imported_animals ALTER id DROP NOT NULL`;
const COPY = `COPY imported_animals (position, line, id, ${columns.listInserted()}) FROM STDIN`;

const TAKEN = `
  SELECT position, line, 'id ' || id || ' is that of ' || CASE
      WHEN animals.id IS NOT NULL THEN 'another animal'
      WHEN withdrawn_animals.id IS NOT NULL THEN 'a withdrawn animal'
      WHEN line > first THEN 'the animal in line ' || first
    END AS reason
  FROM (SELECT *, min(line) OVER (PARTITION BY id) AS first FROM imported_animals WHERE id IS NOT NULL) AS identified
  LEFT JOIN animals USING (id)
  LEFT JOIN withdrawn_animals USING (id)`;
const UNKNOWN = `
  SELECT position, line, '${unknownCategory().message}'
  FROM imported_animals WHERE NOT EXISTS (SELECT FROM categories WHERE categories.id = category_id)`;
const CHECKS: Readonly<Record<CategoryPolicy, string>> = {
  open: checkOf(TAKEN),
  strict: checkOf(`${TAKEN} UNION ALL ${UNKNOWN}`),
};
// Locks the categories as a foreign key would: nobody can remove them until the transaction ends.
const LOCK_CATEGORIES = `
  SELECT FROM categories WHERE id IN (SELECT category_id FROM imported_animals) ORDER BY id FOR KEY SHARE`;

// Waits for every transaction that has drawn an id, and makes later ones wait:
// https://www.postgresql.org/docs/current/sql-altersequence.html
const LOCK_SEQUENCE = 'ALTER SEQUENCE animals_id_seq NO CYCLE';
const ADVANCE_SEQUENCE = `
  SELECT setval('animals_id_seq', given)
  FROM (SELECT max(id) AS given FROM imported_animals) AS file, animals_id_seq
  WHERE given >= last_value`;

const STORE_IDENTIFIED = `
  WITH added AS (
    INSERT INTO animals (id, ${columns.listInserted()})
    SELECT id, ${columns.listInserted()} FROM imported_animals WHERE id IS NOT NULL
    RETURNING ${columns.list()}
  )
  ${storeAdditions('added')}`;
const STORE_OTHERS = `
  WITH added AS (
    INSERT INTO animals (${columns.listInserted()})
    SELECT ${columns.listInserted()} FROM imported_animals WHERE id IS NULL ORDER BY position
    RETURNING ${columns.list()}
  ), event AS (${storeAdditions('added')})
  SELECT min(id) AS first, max(id) AS last FROM added`;

const OWNER = `SELECT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE oid = 'animals'::regclass`;

/** Copies the animals into a table of its own connection, and stores them from there in one transaction. */
export class PostgresAnimalImporter implements AnimalImporter {
  constructor(
    private readonly connection: DatabaseConnection,
    private readonly categories: CategoryPolicy,
  ) {}

  async importAll(parts: AsyncIterable<readonly AnimalToImport[]>, isWanted: () => boolean): Promise<ImportOutcome> {
    const client = newClient(this.connection, { keepAlive: true });
    await client.connect();
    await prepareClient(client, LIMITS);
    try {
      await client.query(STAGE);
      await pipeline(linesOf(parts), client.query(copyFrom(COPY)));
      await client.query('ANALYZE imported_animals');
      const refused = await this.refusedBy(client);
      if (refused.count > 0 || !isWanted()) return { refused, newIds: undefined };
      await reserveIds(client);
      return await this.store(client);
    } catch (error) {
      throw sqlState(error) === INSUFFICIENT_PRIVILEGE ? await namingOwner(client, error) : error;
    } finally {
      // This also rolls back a transaction that is still open.
      await client.end();
    }
  }

  private async refusedBy(client: pg.Client): Promise<InvalidRows> {
    const { rows } = await client.query<{ line: string; reason: string; count: string }>(CHECKS[this.categories]);
    const first = rows.map(({ line, reason }) => ({ line: Number(line), reason }));
    return { first, count: Number(rows[0]?.count ?? 0) };
  }

  private async store(client: pg.Client): Promise<ImportOutcome> {
    await client.query(`BEGIN; SET LOCAL work_mem = '64MB'`);
    await client.query('SELECT pg_advisory_xact_lock($1)', [IMPORT_LOCK]);
    if (this.categories === 'strict') await client.query(LOCK_CATEGORIES);
    // Checked again with the lock held, because animals may have been added since the first check.
    const refused = await this.refusedBy(client);
    if (refused.count > 0) return { refused, newIds: undefined };
    await client.query(STORE_IDENTIFIED);
    const { rows } = await client.query<{ first: string | null; last: string | null }>(STORE_OTHERS);
    const { first = null, last = null } = rows[0] ?? {};
    const newIds = first === null || last === null ? undefined : ([animalId(first), animalId(last)] as const);
    await client.query('COMMIT').catch((error: unknown) => {
      if (!isConnectionLost(error)) throw error;
      const message = 'the connection to the database was lost at the last moment: look whether the animals are there';
      throw new Error(message, { cause: error });
    });
    return { refused, newIds };
  }
}

/**
 * SQL for the first refused rows and the count of all.
 *
 * @param reasons SQL for rows of position, line and reason. One animal may have several. A null reason refuses nothing.
 */
function checkOf(reasons: string): string {
  return `
    SELECT line, reason, count(*) OVER () AS count
    FROM (
      SELECT DISTINCT ON (position) position, line, reason
      FROM (${reasons}) AS judged
      WHERE reason IS NOT NULL
      ORDER BY position
    ) AS refused
    ORDER BY position
    LIMIT ${MOST_REPORTED}`;
}

type Field = string | number | bigint | null;

/** The rows of COPY's text format: https://www.postgresql.org/docs/current/sql-copy.html */
async function* linesOf(parts: AsyncIterable<readonly AnimalToImport[]>): AsyncGenerator<string> {
  let position = 0;
  for await (const part of parts) {
    const values = columns.valuesOf(part.map(({ animal }) => rowOf(animal))) as Field[][];
    const rows = part.map(({ line, id }, index) => {
      position += 1;
      return [position, line, id ?? null, ...values.map((column) => column[index] ?? null)].map(fieldOf).join('\t');
    });
    if (rows.length > 0) yield `${rows.join('\n')}\n`;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function fieldOf(value: Field): string {
  return value === null ? '\\N' : String(value).replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '');
}

/**
 * Makes sure that nobody else gets one of the file's ids. Afterwards the sequence only returns greater ids, and every
 * animal that already has one of the file's ids is committed, so the next check sees it.
 */
async function reserveIds(client: pg.Client): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await client.query(`BEGIN; SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'; ${LOCK_SEQUENCE}`);
      await client.query(ADVANCE_SEQUENCE);
      await client.query('COMMIT');
      return;
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
      await client.query('ROLLBACK');
      if (tries === MOST_TRIES) {
        const message = 'another transaction has been adding animals for too long, perhaps in psql: try again later';
        throw new Error(message, { cause: error });
      }
      await delay(PAUSE);
    }
  }
}

/** The error of a role that may not import, with the role that may. */
async function namingOwner(client: pg.Client, cause: unknown): Promise<Error> {
  await client.query('ROLLBACK');
  const { rows } = await client.query<{ owner: string }>(OWNER);
  const reason = cause instanceof Error ? cause.message : '';
  return new Error(`an import needs the role that owns the tables, ${rows[0]?.owner ?? ''} (${reason})`, { cause });
}

function animalId(stored: string): AnimalId {
  return BigInt(stored) as AnimalId;
}
