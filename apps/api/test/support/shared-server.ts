/** The program of the shared API (global-setup.ts). It tells its parent both addresses, and ends with the connection to it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi } from '@adoption-store/api';
import { createApplication, plan } from '@adoption-store/domain';
import { testPolicy } from '@adoption-store/domain/testing';
import { openInfrastructure } from '@adoption-store/infrastructure';

const [, , databaseUrl = ''] = process.argv;
const unlimited = 1_000_000;
const policy = testPolicy({ addressLimit: unlimited });
const { ports, isReady, close } = await openInfrastructure({ policy, databaseUrl, poolSize: 10 });
const application = createApplication(ports, policy);
const api = await createApi({ application, clock: ports.clock, isReady });
await api.listen(0, '127.0.0.1');

let accounts = 0;
const issueKeys = async () => {
  const email = `shared-${(accounts += 1)}@example.com`;
  const itsPlan = plan('enterprise', { perMinute: unlimited, perDay: unlimited });
  const { id: accountId } = await application.openAccount.execute({ email, plan: itsPlan });
  const issued = [await application.issueKey.execute({ accountId }), await application.issueKey.execute({ accountId })];
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
process.send?.({ api: await api.getUrl(), keys: `http://127.0.0.1:${(keys.address() as AddressInfo).port}` });

await once(process, 'disconnect');
keys.close();
await api.close();
await close();
