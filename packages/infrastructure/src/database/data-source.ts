import pg, { type ClientBase, type PoolConfig } from 'pg';
import { DataSource } from 'typeorm';
import { accountSchema } from '../accounts/account.schema.js';
import { apiKeySchema } from '../accounts/api-key.schema.js';
import { animalSchema } from '../animals/animal.schema.js';
import { categorySchema } from '../categories/category.schema.js';
import { messageSchema } from '../messages/message.schema.js';
import { orderSchema } from '../orders/order.schema.js';
import { sessionSchema } from '../sessions/session.schema.js';
import * as migrations from './migrations/index.js';
import { QUERY_TIMEOUT } from './query-timeouts.js';
import { PipeliningPool, type PipeliningPoolConfig } from './pipelining-pool.js';
import { QueryTracing } from './query-tracing.js';
import { ReadOnlyServers } from './read-only-servers.js';
import { TransactionLimits } from './transactions.js';

/** The address of PostgreSQL and the size of the pool, as pg's own settings. */
export type DatabaseConnection = Pick<
  PipeliningPoolConfig,
  'connectionString' | 'host' | 'port' | 'user' | 'database' | 'max' | 'maxLifetimeSeconds' | 'poolsTransactions'
>;

/** Longest life of a connection, which may stay with a server that its address no longer leads to. */
export const LONGEST_LIFE_SECONDS = 300;

/** Milliseconds to wait for a connection. The rest of the query timeout is for the query itself. */
const CONNECTION_TIMEOUT = QUERY_TIMEOUT - 200;

/**
 * Milliseconds for which a migration waits for a lock. Other statements on the table wait behind it, and are given up
 * after `QUERY_TIMEOUT`.
 */
const LOCK_TIMEOUT = 1_000;

/** Settings of every pool of a service: whatever the database does, work on it ends in time. */
export function boundedPool(connection: DatabaseConnection): PoolConfig {
  const pool = {
    application_name: 'adoption-store',
    maxLifetimeSeconds: LONGEST_LIFE_SECONDS,
    ...connection,
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    // With a pipeline the query timeout ends the connection, so no caller gets a connection on which a late answer may
    // arrive.
    pipeline: true,
    query_timeout: QUERY_TIMEOUT,
  };
  // A pooler refuses settings of a connection, so each transaction has its own (`TransactionLimits`).
  if (connection.poolsTransactions === true) return { ...pool, onConnect: ignoreLoss };
  return {
    ...pool,
    // An abandoned statement must not hold locks.
    statement_timeout: QUERY_TIMEOUT,
    // A process that is frozen within a transaction loses its locks.
    idle_in_transaction_session_timeout: QUERY_TIMEOUT,
    onConnect: (client) => {
      // Generic plans: otherwise a page would be planned at each execution, because its LIMIT could be any value, and
      // tests of a plan would only hold for the tested values.
      // Without their values statements on large tables look expensive, so they would be compiled at each execution, which
      // takes longer than running them.
      prepareClient(client, { plan_cache_mode: 'force_generic_plan', jit: 'off' });
    },
  };
}

/** Connects to a database whose schema is up to date. */
export async function openDataSource(connection: DatabaseConnection): Promise<DataSource> {
  const source = await dataSource(boundedPool(connection)).initialize();
  source.subscribers.push(new QueryTracing(), new ReadOnlyServers());
  if (connection.poolsTransactions === true) source.subscribers.push(new TransactionLimits());
  return source;
}

/**
 * The server notices within 16 seconds that this machine has vanished, and ends its session. Linux would need two hours.
 * On a Unix socket PostgreSQL ignores these.
 */
const KEEPALIVES = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '16000',
};

/** Prepares a new connection. */
export function prepareClient(client: ClientBase, settings: Readonly<Record<string, string>> = {}): void {
  ignoreLoss(client);
  const all = Object.entries({ ...KEEPALIVES, ...settings });
  // Later queries of this client wait for it, and fail if it fails.
  client.query(all.map(([name, value]) => `SET ${name} = '${value}'`).join(';')).catch(() => undefined);
}

/**
 * Without a listener a lost connection would end the process, and the pool has none while it hands a client over. No error
 * is missed: the next query rejects.
 */
function ignoreLoss(client: ClientBase): void {
  client.on('error', () => undefined);
}

/** A new client for a connection outside the pool. */
export function newClient(connection: DatabaseConnection, config: pg.ClientConfig): pg.Client {
  return new pg.Client({ ...connection, application_name: 'adoption-store', ...config });
}

/** Milliseconds: longer than any migration, and than the timeouts of its role. */
const LONGEST_MIGRATION = 86_400_000;

/** A source for migrations, which may take their time. */
export function migrationSource(connection: DatabaseConnection): DataSource {
  return dataSource({
    ...connection,
    application_name: 'adoption-store',
    max: 2,
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    lock_timeout: LOCK_TIMEOUT,
    statement_timeout: LONGEST_MIGRATION,
    idle_in_transaction_session_timeout: LONGEST_MIGRATION,
    onConnect: (client: ClientBase) => {
      prepareClient(client);
    },
  });
}

function dataSource(pool: PoolConfig): DataSource {
  return new DataSource({
    type: 'postgres',
    entities: [animalSchema, categorySchema, accountSchema, apiKeySchema, orderSchema, messageSchema, sessionSchema],
    migrations: Object.values(migrations),
    migrationsTableName: 'migrations',
    installExtensions: false,
    // Silent: the console's logger writes failed migrations to standard output, which has log lines alone.
    logger: 'debug',
    driver: { Pool: PipeliningPool },
    extra: pool,
  });
}
