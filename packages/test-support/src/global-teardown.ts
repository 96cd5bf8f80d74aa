import { rm } from 'node:fs/promises';

/** Mutation tests run Jest again in the same process, so no variable may still name the stopped server. */
export default async function globalTeardown(): Promise<void> {
  if (globalThis.testTemplate) {
    await globalThis.testTemplate.drop();
    globalThis.testTemplate = undefined;
    delete process.env['TEST_DATABASE_TEMPLATE'];
  }
  if (!globalThis.testPostgres) return;
  const { server, dataDirectory } = globalThis.testPostgres;
  globalThis.testPostgres = undefined;
  delete process.env['TEST_POSTGRES_URL'];
  delete process.env['TEST_POSTGRES_LOG'];
  await server.close();
  await rm(dataDirectory, { recursive: true, force: true });
}
