import { testPolicy } from '@adoption-store/domain/testing';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  type AccountId,
  type CategoryPolicy,
  instant,
  type KeyRequester,
  PLANS,
  type Ports,
} from '@adoption-store/domain';
import { ask, createDatabase, until } from '@adoption-store/test-support';
import { afterEach } from '@jest/globals';
import { PostgresAnimalImporter } from '../src/animals/postgres-animal-importer.js';
import { openDataSource } from '../src/database/data-source.js';
import { entitySchemas } from '../src/entity-schemas.js';
import { type Infrastructure, type InfrastructureConfig, openInfrastructure } from '../src/open-infrastructure.js';

/** Every adapter, on a database of its own. */
export async function openPostgres(categories: CategoryPolicy = 'open'): Promise<{
  readonly ports: Ports;
  readonly url: string;
  readonly letPass: (milliseconds: number) => Promise<void>;
  readonly addOlder: (email: string) => Promise<void>;
  readonly close: () => Promise<void>;
}> {
  const database = await createDatabase();
  const { ports, close } = await openInfrastructure({
    policy: testPolicy({ categories }),
    databaseUrl: database.url,
    poolSize: 20,
  });
  return {
    // An import makes a table, so it needs the owner's role.
    ports: {
      ...ports,
      animalImporter: new PostgresAnimalImporter({ connectionString: database.ownerUrl }, categories),
    },
    url: database.url,
    // PostgreSQL's clock can't be set, so the due times of its queues move back instead, and no trigger notices.
    letPass: async (milliseconds) => {
      const earlier = `SET due_at = due_at - ${milliseconds} * interval '1 millisecond'`;
      await ask(
        database.url,
        `SET session_replication_role = replica; UPDATE delivery_lines ${earlier.replaceAll('due_at', 'turn_at')}; UPDATE messages ${earlier}; UPDATE account_mails ${earlier}; UPDATE webhook_deliveries ${earlier};
        UPDATE webhooks ${earlier.replaceAll('due_at', 'turn_at')}, ${earlier.slice(4).replaceAll('due_at', 'busy_until')},
          ${earlier.slice(4).replaceAll('due_at', 'paused_until')}`,
      );
    },
    // As a version before addresses had one form.
    addOlder: async (email) => {
      await ask(database.url, `INSERT INTO accounts (email, plan, created_at) VALUES ($1, 'free', now())`, [email]);
    },
    close: async () => {
      await close();
      await database.drop();
    },
  };
}

export type Database = Awaited<ReturnType<typeof openDatabase>>;

/** A migrated database, for adapters that are made by hand. */
export async function openDatabase() {
  const database = await createDatabase();
  const dataSource = await openDataSource({ connectionString: database.url, max: 5 }, entitySchemas);
  return {
    url: database.url,
    dataSource,
    close: async () => {
      await dataSource.destroy();
      await database.drop();
    },
  };
}

/** What each test adds to the list is run after it, the last first. */
export function closedAfterEach(): (() => unknown)[] {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return closing;
}

/** Every adapter on that database, as a process opens them, until the list's closers run. */
export async function openStore(
  closing: (() => unknown)[],
  databaseUrl: string,
  settings: Partial<InfrastructureConfig> = {},
): Promise<Infrastructure> {
  const opened = await openInfrastructure({ policy: testPolicy(), databaseUrl, poolSize: 4, ...settings });
  closing.push(opened.close);
  return opened;
}

const CREATED = instant(Date.UTC(2026, 0, 1, 12));

/** An account under an address that no other has. */
export async function openAccount({ accounts }: Pick<Ports, 'accounts'>): Promise<AccountId> {
  const email = `${randomUUID()}@example.com`;
  return (await accounts.open({ email, plan: PLANS.free, scopes: undefined, createdAt: CREATED })).id;
}

/** A key of a new account. */
export async function addKey(ports: Pick<Ports, 'accounts' | 'apiKeys'>): Promise<KeyRequester> {
  const accountId = await openAccount(ports);
  const draft = {
    accountId,
    hash: randomBytes(32).toString('hex'),
    ending: 'wxyz',
    name: 'till',
    createdAt: CREATED,
    scopes: undefined,
    expiresAt: undefined,
  };
  const key = await ports.apiKeys.add(accountId, CREATED, () => ({ key: draft }));
  return { accountId, keyId: key.id };
}

/** From now on the server's commits wait for a synchronous standby of that name, which never comes. '': they don't wait. */
export async function setStandby(url: string, name: string): Promise<void> {
  await ask(url, `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await ask(url, 'SELECT pg_reload_conf()');
  await until(async () => {
    const [row] = await ask<{ names: string }>(url, `SELECT current_setting('synchronous_standby_names') AS names`);
    return row?.names === name;
  });
}

/** Waits until a statement in the database waits for a lock. */
export function untilBlocked(url: string): Promise<void> {
  const blocked = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return until(async () => (await ask(url, blocked)).length > 0);
}
