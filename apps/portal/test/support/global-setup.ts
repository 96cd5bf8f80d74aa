import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import openPostgres, { ask, createDatabase, type TestDatabase } from '@adoption-store/test-support/global-setup';

declare global {
  var sharedPortal: SharedServers | undefined;
}

interface SharedServers {
  readonly portal: NestFastifyApplication;
  readonly api: NestFastifyApplication;
  readonly database: TestDatabase;
  /** Closes the store. */
  readonly close: () => Promise<void>;
}

/** One portal, with its API, for all specs that need no clock, mails or database of their own. They speak only HTTP to it. */
export default async function globalSetup(...run: Parameters<typeof openPostgres>): Promise<void> {
  await openPostgres(...run);
  // The compiled ones: Jest loads this file without the resolver that maps .js imports to .ts files.
  const [{ createPortal }, { createApi }, domain, testing, { openInfrastructure }] = await Promise.all([
    import('@adoption-store/portal'),
    import('@adoption-store/api'),
    import('@adoption-store/domain'),
    import('@adoption-store/domain/testing'),
    import('@adoption-store/infrastructure'),
  ]);
  const database = await createDatabase();
  const { ports, isReady, close } = await openInfrastructure({ databaseUrl: database.url, poolSize: 10 });
  const { createApplication, INT64_MAX, plan } = domain;
  const { clock } = ports;
  const { accountMailPages, InMemoryAccountMailSender, InMemoryWebhookSender, PredictablePasswordHasher } = testing;
  const application = createApplication(
    {
      ...ports,
      // No worker sends them.
      accountMailSender: new InMemoryAccountMailSender(),
      // It resolves no names.
      webhookSender: new InMemoryWebhookSender(),
      // Argon2 takes 30 ms of a core for each password. Its guarantees are tested in the infrastructure.
      passwordHasher: new PredictablePasswordHasher(),
    },
    { accountMailPages },
  );
  const api = await createApi({ application, clock, isReady });
  await api.listen(0, '127.0.0.1');
  const apiUrl = await api.getUrl();
  const portal = await createPortal({
    application,
    clock,
    secrets: ['a secret of thirty-two characters'],
    apiUrl,
    isReady,
    trustProxy: ['127.0.0.1'],
  });
  await portal.listen(0, '127.0.0.1');
  // Only ids that a double can't hold.
  await ask(database.url, `ALTER SEQUENCE animals_id_seq RESTART ${2n ** 53n + 1n} INCREMENT 2`);
  await application.addAnimal.execute({ name: 'Rex', categoryId: INT64_MAX, status: 'available' });
  const limits = plan('enterprise', { perMinute: 1_000_000, perDay: 1_000_000 });
  const { id: accountId } = await application.openAccount.execute({ email: 'store@example.com', plan: limits });
  process.env['TEST_SHARED_PORTAL'] = await portal.getUrl();
  process.env['TEST_SHARED_API'] = apiUrl;
  process.env['TEST_SHARED_KEY'] = (await application.issueKey.execute({ accountId })).text;
  globalThis.sharedPortal = { portal, api, database, close };
}
