import { createPortal, type PortalOptions } from '../../src/create-portal.js';
import {
  type AccountMailQueue,
  type Application,
  type Clock,
  createApplication,
  type Ports,
} from '@adoption-store/domain';
import { accountMailPages, InMemoryAccountMailSender, PredictablePasswordHasher } from '@adoption-store/domain/testing';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { createDatabase, DatabaseGate } from '@adoption-store/test-support';

/** The portal with its own database, served over real HTTP. Its mail is stored here. */
export interface TestPortal {
  readonly origin: string;
  readonly application: Application;
  readonly ports: Ports;
  readonly clock: Clock;
  readonly mailer: InMemoryAccountMailSender;
  readonly databaseUrl: string;
  /** Every path that accepts forms. */
  readonly forms: readonly string[];
  /** Makes the database unavailable from now on. */
  loseDatabase(): void;
  /** Makes it available again. */
  regainDatabase(): Promise<void>;
  close(): Promise<void>;
}

export async function startPortal(options: Partial<PortalOptions> = {}): Promise<TestPortal> {
  const database = await createDatabase();
  const gate = await DatabaseGate.open(database.url);
  const { ports, isReady, close } = await openInfrastructure({
    databaseUrl: gate.url,
    poolSize: 5,
  });
  const mailer = new InMemoryAccountMailSender();
  const clock = options.clock ?? ports.clock;
  const application: Application = createApplication(
    {
      ...ports,
      clock,
      accountMailSender: mailer,
      // Argon2 takes 30 ms of a core for each password. Its guarantees are tested in the infrastructure.
      passwordHasher: new PredictablePasswordHasher(),
      accountMails: deliveredAtOnce(ports.accountMails, () => application),
    },
    { accountMailPages },
  );
  const portal = await createPortal({
    application,
    clock,
    secrets: ['a secret of thirty-two characters'],
    apiUrl: 'http://api.example.com',
    isReady,
    ...options,
  });
  await portal.listen(0, '127.0.0.1');
  return {
    origin: `http://127.0.0.1:${new URL(await portal.getUrl()).port}`,
    application,
    ports,
    clock,
    mailer,
    databaseUrl: database.url,
    forms: pathsOf(portal.getHttpAdapter().getInstance().printRoutes({ commonPrefix: false }), 'POST'),
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

/** Parses the tree of routes that Fastify prints: each level is indented by four characters. */
function pathsOf(tree: string, method: string): readonly string[] {
  const above: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line) ?? [];
    above.splice(indent.length / 4, Infinity, part);
    return methods.split(', ').includes(method) ? [above.join('')] : [];
  });
}
