import closePostgres from '@adoption-store/test-support/global-teardown';

export default async function globalTeardown(): Promise<void> {
  if (globalThis.sharedApi) {
    const { api, keys, database, close } = globalThis.sharedApi;
    globalThis.sharedApi = undefined;
    keys.close();
    await api.close();
    await close();
    await database.drop();
  }
  await closePostgres();
}
