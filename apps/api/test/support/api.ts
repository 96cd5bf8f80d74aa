import { afterAll, beforeAll } from '@jest/globals';
import { type ApiOptions, createApi } from '../../src/create-api.js';
import {
  type Account,
  type Application,
  createApplication,
  type FixedPlanName,
  instant,
  type NewAnimalInput,
  type Plan,
  plan,
  type StorePolicy,
} from '@adoption-store/domain';
import { InMemoryMessageSender, InMemoryWebhookSender, ManualClock, testPolicy } from '@adoption-store/domain/testing';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { createDatabase } from '@adoption-store/test-support';
import { OpenConnections } from '@adoption-store/web';
import { openPooled } from './pooled.js';
import type { Api } from './shared-api.js';

/** The API with its own database, served over real HTTP. Only its clock is set by hand. */
export interface TestApi extends Api {
  readonly application: Application;
  readonly clock: ManualClock;
  /** Receives what `application.deliverWebhooks` delivers. */
  readonly webhookSender: InMemoryWebhookSender;
  readonly databaseUrl: string;
  /** Creates a key of a new account. */
  openKey(of?: FixedPlanName | Plan): Promise<{ account: Account; id: bigint; key: string }>;
  /** Imports animals as the operator does: with the role that owns the tables. */
  importAnimals(animals: readonly NewAnimalInput[]): Promise<void>;
  /** Stops serving, does this work, and serves again at the same port. */
  restart(meanwhile: () => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

/** Starts the API before a suite's first test and stops it after the last. */
export function useApi(options?: Partial<ApiOptions>, rules?: Partial<StorePolicy>): TestApi {
  const api = {} as TestApi;
  beforeAll(async () => {
    Object.assign(api, await startApi(options, rules));
  });
  afterAll(() => api.close());
  return api;
}

let accountsOpened = 0;

export async function startApi(options: Partial<ApiOptions> = {}, rules?: Partial<StorePolicy>): Promise<TestApi> {
  const policy = testPolicy(rules);
  const database = await createDatabase();
  const { ports, isReady, close } = await openPooled({ policy, databaseUrl: database.url, poolSize: 5 });
  const clock = new ManualClock(instant(Date.UTC(2026, 10, 21, 12)));
  const messageSender = new InMemoryMessageSender();
  const webhookSender = new InMemoryWebhookSender();
  const application = createApplication({ ...ports, clock, messageSender, webhookSender }, policy);
  const serve = async (at: number) => {
    const api = await createApi({ application, clock, isReady, ...options });
    const connections = new OpenConnections(api.getHttpServer());
    await api.listen(at, '127.0.0.1');
    // As the service ends: a client's connection without a request would keep it open for 72 s.
    const end = () => connections.end(AbortSignal.abort(), { lameDuck: 0, all: 10_000 }, () => api.close());
    return { port: Number(new URL(await api.getUrl()).port), end };
  };
  let served = await serve(0);
  const { port } = served;

  const issueKey = async (email: string, itsPlan: Plan) => {
    const account = await application.openAccount.execute({ email, plan: itsPlan });
    const { key, text } = await application.issueKey.execute({ accountId: account.id });
    return { account, id: key.id, key: text };
  };

  return {
    host: '127.0.0.1',
    port,
    origin: `http://127.0.0.1:${port}`,
    application,
    clock,
    webhookSender,
    databaseUrl: database.url,
    key: (await issueKey('unlimited@example.com', plan('enterprise', { perMinute: 1_000_000, perDay: 1_000_000 }))).key,
    openKey: (of = 'business') =>
      issueKey(`account-${(accountsOpened += 1)}@example.com`, typeof of === 'string' ? plan(of) : of),
    async importAnimals(animals) {
      const owner = await openInfrastructure({ policy, databaseUrl: database.ownerUrl, poolSize: 1 });
      const rows = async function* () {
        yield animals.map((animal, line) => ({ line, animal }));
      };
      const operator = createApplication({ ...owner.ports, clock, messageSender, webhookSender }, policy);
      await operator.importAnimals.execute({ rows: rows() });
      await owner.close();
    },
    async restart(meanwhile) {
      await served.end();
      await meanwhile();
      served = await serve(port);
    },
    async close() {
      await served.end();
      await close();
      await database.drop();
    },
  };
}
