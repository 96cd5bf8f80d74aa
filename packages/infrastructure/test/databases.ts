import type { Ports } from '@adoption-store/domain';
import { createDatabase } from '@adoption-store/test-support';
import { openDataSource } from '../src/database/data-source.js';
import { openInfrastructure } from '../src/open-infrastructure.js';

/** Every adapter, on a database of its own. */
export async function openPostgres(): Promise<{
  readonly ports: Ports;
  readonly url: string;
  readonly close: () => Promise<void>;
}> {
  const database = await createDatabase();
  const { ports, close } = await openInfrastructure({ databaseUrl: database.url, poolSize: 20 });
  return {
    ports,
    url: database.url,
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
  const dataSource = await openDataSource({ connectionString: database.url, max: 5 });
  return {
    url: database.url,
    dataSource,
    close: async () => {
      await dataSource.destroy();
      await database.drop();
    },
  };
}
