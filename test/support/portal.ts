import { createPortal, type PortalOptions } from '@adoption-store/portal';
import { createApplication, type Application, type Clock, type Ports } from '@adoption-store/domain';
import { InMemoryPasswordMailer } from '@adoption-store/domain/testing';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { createDatabase, DatabaseGate } from '@adoption-store/test-support';

/** The portal with its own database, served over real HTTP. Its mail is stored here. */
export interface TestPortal {
  readonly origin: string;
  readonly application: Application;
  readonly ports: Ports;
  readonly clock: Clock;
  readonly mailer: InMemoryPasswordMailer;
  readonly databaseUrl: string;
  /** Every path that accepts forms. */
  readonly forms: readonly string[];
  /** Makes the database unavailable from now on. */
  loseDatabase(): void;
  close(): Promise<void>;
}

export async function startPortal(options: Partial<PortalOptions> = {}): Promise<TestPortal> {
  const database = await createDatabase();
  const gate = await DatabaseGate.open(database.url);
  const { ports, isReady, close } = await openInfrastructure({
    databaseUrl: gate.url,
    poolSize: 5,
  });
  const mailer = new InMemoryPasswordMailer();
  const clock = options.clock ?? ports.clock;
  const application = createApplication({ ...ports, clock, passwordMailer: mailer });
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
    async close() {
      await portal.close();
      await close();
      gate.shut();
      await database.drop();
    },
  };
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
