import { createApi } from '@adoption-store/api';
import { afterAll, beforeAll } from '@jest/globals';
import {
  type AccountMail,
  type Application,
  createApplication,
  DomainError,
  instant,
  type Ports,
} from '@adoption-store/domain';
import {
  InMemoryAccountMailSender,
  InMemoryWebhookSender,
  ManualClock,
  PredictablePasswordHasher,
  testPolicy,
} from '@adoption-store/domain/testing';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { createDatabase, DatabaseGate, until } from '@adoption-store/test-support';
import { OpenConnections } from '@adoption-store/web';
import { createPortal, type PortalOptions } from '../../src/create-portal.js';
import { type Browsers, browsersAt } from './portal-visitor.js';

/** The portal with its own database, served over real HTTP. Its clock is set by hand. */
export interface TestPortal extends Browsers {
  readonly origin: string;
  readonly application: Application;
  readonly ports: Ports;
  readonly clock: ManualClock;
  /** Delivers the queued mails, and returns those of that kind to an address. */
  mailsTo(email: string, kind: AccountMail['kind']): Promise<readonly AccountMail[]>;
  /** The token of the last mail of that kind to an address. Waits for one: some are queued after the response. */
  tokenMailedTo(email: string, kind: AccountMail['kind']): Promise<string>;
  /** Calls no URL. */
  readonly webhookSender: InMemoryWebhookSender;
  readonly databaseUrl: string;
  /** The address of the same store's API, if it is served. */
  readonly api: string;
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
  readonly opensUnproven?: boolean;
  readonly servesApi?: boolean;
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

async function startPortal({
  sendsMail = true,
  opensUnproven = true,
  servesApi = false,
  ...options
}: Options = {}): Promise<TestPortal> {
  const database = await createDatabase();
  const gate = await DatabaseGate.open(database.url);
  const { ports, isReady, close } = await openInfrastructure({
    policy: testPolicy(),
    databaseUrl: gate.url,
    poolSize: 5,
  });
  const mailer = new InMemoryAccountMailSender();
  const webhookSender = new InMemoryWebhookSender();
  const clock = new ManualClock(instant(Date.UTC(2026, 10, 21, 12)));
  const used = {
    ...ports,
    clock,
    accountMailSender: mailer,
    webhookSender,
    // Argon2 takes 30 ms of a core for each password. Its guarantees are tested in the infrastructure.
    passwordHasher: new PredictablePasswordHasher(),
  };
  const application = createApplication(used, testPolicy(), { opensUnproven });
  if (sendsMail) await application.recordPortal.execute('https://portal.example.com');
  const api = await createApi({ application, clock, isReady });
  if (servesApi) await api.listen(0, '127.0.0.1');
  const apiUrl = servesApi ? await api.getUrl() : 'http://api.example.com';
  const routes: { method: string; url: string }[] = [];
  const portal = await createPortal({
    application,
    clock,
    secrets: ['a secret of thirty-two characters'],
    apiUrl,
    isReady,
    trustProxy: ['127.0.0.1'],
    onRoute: ({ method, url }) => routes.push(...[method].flat().map((each) => ({ method: each, url }))),
    ...options,
  });
  const ends = [portal, api].map((each) => {
    const connections = new OpenConnections(each.getHttpServer());
    // As the services end: a browser's connection without a request would keep them open.
    return () => connections.end(AbortSignal.abort(), { lameDuck: 0, all: 10_000 }, () => each.close());
  });
  await portal.listen(0, '127.0.0.1');
  const origin = `http://127.0.0.1:${new URL(await portal.getUrl()).port}`;
  const mailsTo: TestPortal['mailsTo'] = async (email, kind) => {
    while ((await application.deliverAccountMails.execute()).mayHaveMore);
    return mailer.to(email, kind);
  };
  const tokenMailedTo: TestPortal['tokenMailedTo'] = async (email, kind) => {
    await until(async () => (await mailsTo(email, kind)).length > 0);
    return mailer.to(email, kind).at(-1)?.token ?? '';
  };
  return {
    ...browsersAt(origin, (email) => tokenMailedTo(email, 'sign-up')),
    origin,
    application,
    ports: used,
    clock,
    mailsTo,
    tokenMailedTo,
    webhookSender,
    databaseUrl: database.url,
    api: apiUrl,
    routes,
    loseDatabase() {
      gate.shut();
    },
    regainDatabase: () => gate.reopen(),
    async close() {
      await Promise.all(ends.map((end) => end()));
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
