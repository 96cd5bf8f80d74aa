import { createApi } from '@adoption-store/api';
import {
  type Account,
  type Application,
  createApplication,
  instant,
  plan,
  type PlanName,
} from '@adoption-store/domain';
import { ManualClock } from '@adoption-store/domain/testing';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { createDatabase } from './database.js';

/** The API on a database of its own, served over real HTTP; only its clock is set by hand. */
export interface TestApi {
  readonly host: string;
  readonly port: number;
  /** Such as `http://127.0.0.1:41234`. */
  readonly origin: string;
  readonly application: Application;
  readonly clock: ManualClock;
  readonly databaseUrl: string;
  /** A working API key of an account on the business plan. */
  readonly key: string;
  /** A new key of a new account. */
  openKey(planName?: Exclude<PlanName, 'enterprise'>): Promise<{ account: Account; id: bigint; key: string }>;
  close(): Promise<void>;
}

let accountsOpened = 0;

export async function startApi(): Promise<TestApi> {
  const database = await createDatabase();
  const { ports, close } = await openInfrastructure({
    databaseUrl: database.url,
    dataDirectory: '/nowhere',
    poolSize: 5,
  });
  const clock = new ManualClock(instant(Date.UTC(2026, 10, 21, 12)));
  const application = createApplication({ ...ports, clock });
  const api = await createApi({ application, clock, logLevel: 'silent' });
  await api.listen(0, '127.0.0.1');
  const port = Number(new URL(await api.getUrl()).port);

  const openKey: TestApi['openKey'] = async (planName = 'business') => {
    accountsOpened += 1;
    const email = `account-${accountsOpened}@example.com`;
    const account = await application.openAccount.execute({ email, plan: plan(planName) });
    const { key, text } = await application.issueKey.execute({ accountId: account.id });
    return { account, id: key.id, key: text };
  };

  return {
    host: '127.0.0.1',
    port,
    origin: `http://127.0.0.1:${port}`,
    application,
    clock,
    databaseUrl: database.url,
    key: (await openKey()).key,
    openKey,
    async close() {
      await api.close();
      await close();
      await database.drop();
    },
  };
}
