import { QUERY_TIMEOUT } from './on-database.js';
import pg, { type ClientBase, type PoolConfig } from 'pg';
import { DataSource, type DataSourceOptions, type MigrationInterface } from 'typeorm';
import * as migrations from './migrations/index.js';
import { PipeliningPool, type PipeliningPoolConfig } from './pipelining-pool.js';
import { QueryTracing } from './query-tracing.js';
import { ReadOnlyServers } from './read-only-servers.js';
import { TransactionLimits } from './transactions.js';

/** The address of PostgreSQL and the size of the pool, as pg's own settings. */
export type DatabaseConnection = Pick<
  PipeliningPoolConfig,
  'connectionString' | 'host' | 'port' | 'user' | 'database' | 'max' | 'maxLifetimeSeconds' | 'poolsTransactions'
>;

/** The name of the services' sessions, as PostgreSQL lists them. */
export const SERVICE = 'adoption-store';

/** Longest life of a connection. An older one might still lead to a server that the address no longer names. */
const LONGEST_LIFE_SECONDS = 300;

/** Milliseconds to wait for a connection. The rest of the query timeout is for the query itself. */
const CONNECTION_TIMEOUT = QUERY_TIMEOUT - 200;

/**
 * Milliseconds for which a migration waits for a lock. Meanwhile other statements on the table wait for the migration.
 * The limit is shorter than `QUERY_TIMEOUT`, so that they don't fail.
 */
const LOCK_TIMEOUT = 1_000;

/** Settings of a pool of a service. All work on the database ends in time, whatever the database does. */
export function boundedPool(connection: DatabaseConnection): PoolConfig {
  const pool = {
    application_name: SERVICE,
    maxLifetimeSeconds: LONGEST_LIFE_SECONDS,
    ...connection,
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    // With a pipeline the query timeout ends the connection. A late answer could otherwise reach the next caller.
    pipeline: true,
    query_timeout: QUERY_TIMEOUT,
  };
  // A pooler refuses the settings of a connection, so `TransactionLimits` sets the limits in each transaction.
  if (connection.poolsTransactions === true) return { ...pool, onConnect: ignoreLoss };
  return {
    ...pool,
    // An abandoned statement must not hold locks.
    statement_timeout: QUERY_TIMEOUT,
    // A process that freezes within a transaction must not keep its locks.
    idle_in_transaction_session_timeout: QUERY_TIMEOUT,
    onConnect: (client) => {
      // Generic plans: otherwise PostgreSQL would plan a page at each execution, because its LIMIT could be any value,
      // and a test of a plan would hold only for the tested values. No JIT: a generic plan on a large table looks
      // expensive, so PostgreSQL would compile it at each execution, which takes longer. Not awaited: the client
      // pipelines.
      void prepareClient(client, { plan_cache_mode: 'force_generic_plan', jit: 'off' });
    },
  };
}

/** Connects to a database whose schema is up to date. */
export async function openDataSource(
  connection: DatabaseConnection,
  entities: DataSourceOptions['entities'],
): Promise<DataSource> {
  const pool = boundedPool(connection);
  const config: PipeliningPoolConfig = {
    ...pool,
    // The time limit of a caller is that of `onDatabase`. The connection waits on: it may have a commit that hangs.
    query_timeout: undefined,
    lookUps: { ...pool, max: 1 },
  };
  const source = await dataSource(config, entities).initialize();
  source.subscribers.push(new QueryTracing(), new ReadOnlyServers());
  if (connection.poolsTransactions === true) source.subscribers.push(new TransactionLimits());
  return source;
}

/**
 * With these settings the server notices within 16 seconds that this machine has vanished, and ends the session. Linux
 * would need two hours. PostgreSQL ignores them on a Unix socket.
 */
const KEEPALIVES = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '16000',
};

/** Applies the settings to a new connection. A client without a pipeline may only be used once this has ended. */
export async function prepareClient(
  client: ClientBase,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  ignoreLoss(client);
  const all = Object.entries({ ...KEEPALIVES, ...settings });
  // If the connection is lost, the next query reports it.
  await client.query(all.map(([name, value]) => `SET ${name} = '${value}'`).join(';')).catch(() => undefined);
}

/**
 * Without an 'error' listener, a lost connection would end the process, and the pool has none while it hands over a
 * client. No error is missed: the next query rejects.
 */
function ignoreLoss(client: ClientBase): void {
  client.on('error', () => undefined);
}

export function newClient(connection: DatabaseConnection, config: pg.ClientConfig): pg.Client {
  return new pg.Client({ ...connection, application_name: SERVICE, ...config });
}

/** Milliseconds. Longer than any migration; it replaces shorter timeouts of the role. */
const LONGEST_MIGRATION = 86_400_000;

export function migrationSource(connection: DatabaseConnection): DataSource {
  return dataSource({
    ...connection,
    application_name: `${SERVICE} migrate`,
    max: 2,
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    lock_timeout: LOCK_TIMEOUT,
    statement_timeout: LONGEST_MIGRATION,
    idle_in_transaction_session_timeout: LONGEST_MIGRATION,
    onConnect: (client: ClientBase) => prepareClient(client),
  });
}

/** pg's types leave out that the pool waits for the promise. */
interface AwaitingPoolConfig extends Omit<PoolConfig, 'onConnect'> {
  readonly onConnect?: ((client: ClientBase) => void | Promise<void>) | undefined;
}

function dataSource(pool: AwaitingPoolConfig, entities: DataSourceOptions['entities'] = []): DataSource {
  return new DataSource({
    type: 'postgres',
    entities,
    // Without a `down`: no migration is ever reverted.
    migrations: Object.values(migrations) satisfies readonly (new () => Pick<
      MigrationInterface,
      'up' | 'transaction'
    >)[],
    migrationsTableName: 'migrations',
    installExtensions: false,
    // Silent: the default logger writes failed migrations to standard output, where only log lines may be.
    logger: 'debug',
    driver: { Pool: PipeliningPool },
    extra: pool,
  });
}
