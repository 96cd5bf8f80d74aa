import { testPolicy } from '@adoption-store/domain/testing';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import openPostgres, { createDatabase, type TestDatabase } from '@adoption-store/test-support/global-setup';

declare global {
  var sharedApi: SharedServers | undefined;
}

interface SharedServers {
  readonly api: NestFastifyApplication;
  readonly keys: Server;
  readonly database: TestDatabase;
  /** Closes the store. */
  readonly close: () => Promise<void>;
}

/** One API for all specs that need no clock, database or settings of their own. They speak only HTTP to it. */
export default async function globalSetup(...run: Parameters<typeof openPostgres>): Promise<void> {
  await openPostgres(...run);
  // The compiled ones: Jest loads this file without the resolver that maps .js imports to .ts files.
  const [{ createApi }, { createApplication, plan }, { openInfrastructure }] = await Promise.all([
    import('@adoption-store/api'),
    import('@adoption-store/domain'),
    import('@adoption-store/infrastructure'),
  ]);
  const database = await createDatabase();
  const { ports, isReady, close } = await openInfrastructure({
    policy: testPolicy(),
    databaseUrl: database.url,
    poolSize: 10,
  });
  const unlimited = 1_000_000;
  const application = createApplication(ports, testPolicy({ addressLimit: unlimited }));
  const api = await createApi({ application, clock: ports.clock, isReady });
  await api.listen(0, '127.0.0.1');

  let accounts = 0;
  const issueKeys = async () => {
    const email = `shared-${(accounts += 1)}@example.com`;
    const itsPlan = plan('enterprise', { perMinute: unlimited, perDay: unlimited });
    const { id: accountId } = await application.openAccount.execute({ email, plan: itsPlan });
    const issued = [
      await application.issueKey.execute({ accountId }),
      await application.issueKey.execute({ accountId }),
    ];
    return JSON.stringify(issued.map(({ text }) => text));
  };
  const keys = createServer((_request, response) => {
    // Kept open, a connection could be closed just when the next suite uses it.
    response.setHeader('Connection', 'close');
    void issueKeys().then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(keys, 'listening');
  process.env['TEST_SHARED_API'] = await api.getUrl();
  process.env['TEST_SHARED_KEYS'] = `http://127.0.0.1:${(keys.address() as AddressInfo).port}`;
  globalThis.sharedApi = { api, keys, database, close };
}
