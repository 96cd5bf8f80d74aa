import type { CategoryPolicy, Ports } from '@adoption-store/domain';
import { ask, createDatabase } from '@adoption-store/test-support';
import { PostgresAnimalImporter } from '../src/animals/postgres-animal-importer.js';
import { openDataSource } from '../src/database/data-source.js';
import { entitySchemas } from '../src/entity-schemas.js';
import { openInfrastructure } from '../src/open-infrastructure.js';

/** Every adapter, on a database of its own. */
export async function openPostgres(categories?: CategoryPolicy): Promise<{
  readonly ports: Ports;
  readonly url: string;
  readonly letPass: (milliseconds: number) => Promise<void>;
  readonly close: () => Promise<void>;
}> {
  const database = await createDatabase();
  const { ports, close } = await openInfrastructure({ databaseUrl: database.url, poolSize: 20, categories });
  return {
    // An import makes a table, so it needs the owner's role.
    ports: {
      ...ports,
      animalImporter: new PostgresAnimalImporter({ connectionString: database.ownerUrl }, categories),
    },
    url: database.url,
    // PostgreSQL's clock can't be set, so the due times of its queues move back instead.
    letPass: async (milliseconds) => {
      const earlier = `SET due_at = due_at - ${milliseconds} * interval '1 millisecond'`;
      await ask(
        database.url,
        `UPDATE messages ${earlier}; UPDATE account_mails ${earlier}; UPDATE webhook_deliveries ${earlier};
        UPDATE webhooks ${earlier.replaceAll('due_at', 'turn_at')}, ${earlier.slice(4).replaceAll('due_at', 'busy_until')},
          ${earlier.slice(4).replaceAll('due_at', 'paused_until')}`,
      );
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
