import { rm } from 'node:fs/promises';

export default async function globalTeardown(): Promise<void> {
  await globalThis.testTemplate?.drop();
  if (!globalThis.testPostgres) return;
  const { server, dataDirectory } = globalThis.testPostgres;
  await server.close();
  await rm(dataDirectory, { recursive: true, force: true });
}
