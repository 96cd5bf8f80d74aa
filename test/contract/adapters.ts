import type { Ports } from '@adoption-store/domain';
import { inMemoryPorts } from '@adoption-store/domain/testing';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { createDatabase } from '@adoption-store/test-support';

export interface Adapters {
  readonly ports: Ports;
  close(): Promise<void>;
}

/** Every set of adapters. The contract of each port is tested against all of them. */
export const everyAdapter: readonly (readonly [name: string, open: () => Promise<Adapters>])[] = [
  ['in memory', () => Promise.resolve({ ports: inMemoryPorts(), close: () => Promise.resolve() })],
  ['PostgreSQL', openPostgres],
];

export async function openPostgres(): Promise<Adapters & { readonly url: string }> {
  const database = await createDatabase();
  const { ports, close } = await openInfrastructure({
    databaseUrl: database.url,
    poolSize: 20,
  });
  return {
    ports,
    url: database.url,
    async close() {
      await close();
      await database.drop();
    },
  };
}
