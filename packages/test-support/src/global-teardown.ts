import { rm } from 'node:fs/promises';

export default async function globalTeardown(): Promise<void> {
  if (!globalThis.testPostgres) return;
  const { server, dataDirectory } = globalThis.testPostgres;
  await server.close();
  await rm(dataDirectory, { recursive: true, force: true });
}
