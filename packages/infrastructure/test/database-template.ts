// The compiled one: Jest loads this file without the resolver that reads sources.
import { migrate } from '@adoption-store/infrastructure/testing';

/** Migrates once for all suites, each of which gets a copy. */
export default async function prepare(connectionString: string): Promise<void> {
  await migrate({ connectionString });
}
