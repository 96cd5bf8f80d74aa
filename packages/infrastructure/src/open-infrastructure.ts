import type { Ports } from '@adoption-store/domain';
import pg from 'pg';
import { TypeOrmAccountRepository } from './accounts/typeorm-account-repository.js';
import { TypeOrmApiKeyRepository } from './accounts/typeorm-api-key-repository.js';
import { TypeOrmAnimalRepository } from './animals/typeorm-animal-repository.js';
import { type DatabaseConnection, migrate, openDataSource } from './database/data-source.js';
import { openEmbeddedPostgres } from './database/embedded-postgres.js';
import { nodeCryptography } from './kernel/node-cryptography.js';
import { systemClock } from './kernel/system-clock.js';

export interface InfrastructureConfig {
  /** A PostgreSQL (14 or later) to use; without it one of our own is run in `dataDirectory`. */
  readonly databaseUrl?: string | undefined;
  readonly dataDirectory: string;
  /** Connections at the most. */
  readonly poolSize: number;
  /** Told what the operator should know, a sentence each. */
  readonly onEvent?: (message: string) => void;
}

export interface Infrastructure {
  readonly ports: Ports;
  /** Closes every connection; ends a PostgreSQL of our own, unless another process uses it. */
  readonly close: () => Promise<void>;
}

/**
 * The domain's ports on a migrated PostgreSQL.
 *
 * @throws Error with one clear sentence where there is no database to be had.
 */
export async function openInfrastructure(config: InfrastructureConfig): Promise<Infrastructure> {
  const { databaseUrl, poolSize: max } = config;
  if (databaseUrl !== undefined) return connect({ connectionString: databaseUrl, max }).catch(rethrowAs(databaseUrl));
  const embedded = await openEmbeddedPostgres(config);
  try {
    const { host, port, user, database } = embedded;
    return await connect({ host, port, user, database, max }, () => embedded.close());
  } catch (error) {
    await embedded.close();
    throw error;
  }
}

async function connect(connection: DatabaseConnection, afterwards?: () => Promise<void>): Promise<Infrastructure> {
  await migrate(connection);
  const dataSource = await openDataSource(connection);
  return {
    ports: {
      animals: new TypeOrmAnimalRepository(dataSource),
      accounts: new TypeOrmAccountRepository(dataSource),
      apiKeys: new TypeOrmApiKeyRepository(dataSource),
      clock: systemClock,
      cryptography: nodeCryptography,
    },
    async close() {
      await dataSource.destroy();
      await afterwards?.();
    },
  };
}

function rethrowAs(databaseUrl: string) {
  return (error: unknown): never => {
    // Never the user or the password.
    const { host, port, database } = new pg.Client(databaseUrl);
    const reasons: unknown[] = error instanceof AggregateError ? error.errors : [error];
    const reason = reasons.map((each) => (each instanceof Error ? each.message : String(each))).join('; ');
    throw new Error(`the database of DATABASE_URL (${host}:${port}/${database ?? ''}) can't be used: ${reason}`, {
      cause: error,
    });
  };
}
