import closePostgres from '@adoption-store/test-support/global-teardown';

export default async function globalTeardown(): Promise<void> {
  if (globalThis.sharedPortal) {
    const { portal, api, database, close } = globalThis.sharedPortal;
    globalThis.sharedPortal = undefined;
    await Promise.all([portal.close(), api.close()]);
    await close();
    await database.drop();
  }
  await closePostgres();
}
