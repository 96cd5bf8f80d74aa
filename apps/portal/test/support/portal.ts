import { afterAll, beforeAll } from '@jest/globals';
import {
  type AccountMailQueue,
  type Application,
  createApplication,
  DomainError,
  instant,
} from '@adoption-store/domain';
import {
  accountMailPages,
  InMemoryAccountMailSender,
  InMemoryWebhookSender,
  ManualClock,
  PredictablePasswordHasher,
} from '@adoption-store/domain/testing';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { createDatabase, DatabaseGate, until } from '@adoption-store/test-support';
import { createPortal, type PortalOptions } from '../../src/create-portal.js';
import { type Browsers, browsersAt } from './portal-visitor.js';

/** The portal with its own database, served over real HTTP. Its clock is set by hand, and its mail is stored here. */
export interface TestPortal extends Browsers {
  readonly origin: string;
  readonly application: Application;
  readonly clock: ManualClock;
  readonly mailer: InMemoryAccountMailSender;
  /** Calls no URL. */
  readonly webhookSender: InMemoryWebhookSender;
  readonly databaseUrl: string;
  /** Every route. */
  readonly routes: readonly { readonly method: string; readonly url: string }[];
  /** Makes the database unavailable from now on. */
  loseDatabase(): void;
  /** Makes it available again. */
  regainDatabase(): Promise<void>;
  close(): Promise<void>;
}

interface Options extends Partial<PortalOptions> {
  readonly sendsMail?: boolean;
}

/** Starts the portal before a suite's first test and stops it after the last. */
export function usePortal(options?: Options): TestPortal {
  const portal = {} as TestPortal;
  beforeAll(async () => {
    Object.assign(portal, await startPortal(options));
  });
  afterAll(() => portal.close());
  return portal;
}

async function startPortal({ sendsMail = true, ...options }: Options = {}): Promise<TestPortal> {
  const database = await createDatabase();
  const gate = await DatabaseGate.open(database.url);
  const { ports, isReady, close } = await openInfrastructure({ databaseUrl: gate.url, poolSize: 5 });
  const mailer = new InMemoryAccountMailSender();
  const webhookSender = new InMemoryWebhookSender();
  const clock = new ManualClock(instant(Date.UTC(2026, 10, 21, 12)));
  const application: Application = createApplication(
    {
      ...ports,
      clock,
      accountMailSender: mailer,
      webhookSender,
      // Argon2 takes 30 ms of a core for each password. Its guarantees are tested in the infrastructure.
      passwordHasher: new PredictablePasswordHasher(),
      accountMails: deliveredAtOnce(ports.accountMails, () => application),
    },
    sendsMail ? { accountMailPages } : {},
  );
  const routes: { method: string; url: string }[] = [];
  const portal = await createPortal({
    application,
    clock,
    secrets: ['a secret of thirty-two characters'],
    apiUrl: 'http://api.example.com',
    isReady,
    trustProxy: ['127.0.0.1'],
    onRoute: ({ method, url }) => routes.push(...[method].flat().map((each) => ({ method: each, url }))),
    ...options,
  });
  await portal.listen(0, '127.0.0.1');
  const origin = `http://127.0.0.1:${new URL(await portal.getUrl()).port}`;
  return {
    ...browsersAt(origin),
    origin,
    application,
    clock,
    mailer,
    webhookSender,
    databaseUrl: database.url,
    routes,
    loseDatabase() {
      gate.shut();
    },
    regainDatabase: () => gate.reopen(),
    async close() {
      await portal.close();
      await close();
      gate.shut();
      await database.drop();
    },
  };
}

/** Waits until the key is `valid` or is refused with that code. A changed key works as before for a second at most. */
export async function untilKeyIs({ application }: TestPortal, key: string, wanted: string): Promise<void> {
  await until(async () => {
    try {
      await application.authenticate.execute(key);
      return wanted === 'valid';
    } catch (error) {
      return error instanceof DomainError && error.code === wanted;
    }
  });
}

/** The queue, with a worker that delivers each mail before `add` resolves. */
function deliveredAtOnce(mails: AccountMailQueue, application: () => Application): AccountMailQueue {
  let delivering: Promise<unknown> = Promise.resolve();
  const add: AccountMailQueue['add'] = async (mail, most) => {
    if (!(await mails.add(mail, most))) return false;
    // One batch at a time: a concurrent one may have claimed this mail and not sent it yet.
    const delivered = delivering.then(() => application().deliverAccountMails.execute());
    delivering = delivered.catch(() => undefined);
    await delivered;
    return true;
  };
  return new Proxy(mails, {
    get: (target, name) => (name === 'add' ? add : (Reflect.get(target, name, target) as unknown)),
  });
}
