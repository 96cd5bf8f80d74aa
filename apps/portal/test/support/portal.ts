import { afterAll, beforeAll } from '@jest/globals';
import {
  type AccountMail,
  type AccountMailKind,
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

/** The portal with its own database, served over real HTTP. Its clock is set by hand. */
export interface TestPortal extends Browsers {
  readonly origin: string;
  readonly application: Application;
  readonly clock: ManualClock;
  /** Delivers the queued mails, and returns those of that kind to an address. */
  mailsTo(email: string, kind: AccountMailKind): Promise<readonly AccountMail[]>;
  /** The token of the last mail of that kind to an address. Waits for one: some are queued after the response. */
  tokenMailedTo(email: string, kind: AccountMailKind): Promise<string>;
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
  const application = createApplication(
    {
      ...ports,
      clock,
      accountMailSender: mailer,
      webhookSender,
      // Argon2 takes 30 ms of a core for each password. Its guarantees are tested in the infrastructure.
      passwordHasher: new PredictablePasswordHasher(),
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
  const mailsTo: TestPortal['mailsTo'] = async (email, kind) => {
    await application.deliverAccountMails.execute();
    return mailer.to(email, kind);
  };
  return {
    ...browsersAt(origin),
    origin,
    application,
    clock,
    mailsTo,
    async tokenMailedTo(email, kind) {
      await until(async () => (await mailsTo(email, kind)).length > 0);
      return mailer.to(email, kind).at(-1)?.token ?? '';
    },
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
