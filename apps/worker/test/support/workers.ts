import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import pg from 'pg';
import {
  createDatabase,
  type Environment,
  Running,
  SmtpSink,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';

const QUEUE_MESSAGE = `
  INSERT INTO messages (id, account_id, text, status, due_at, created_at)
  SELECT 'msg_' || left(md5(random()::text), 24), min(id), $1, 'queued', now(), now() FROM accounts RETURNING id`;

export interface StartedWorker {
  readonly process: Running;
  /** The origin of its health and metrics. */
  readonly health: string;
}

/** Workers on a database of the suite, and a mail server for each test. */
export interface Workers {
  readonly client: pg.Client;
  readonly sink: SmtpSink;
  /** The settings with which a worker delivers to the sink. */
  readonly byMail: () => Environment;
  /** Starts a worker. It is stopped after the test. */
  readonly start: (environment?: Environment) => Promise<StartedWorker>;
  /** Queues messages in the database and returns their ids. */
  readonly queue: (count: number) => Promise<readonly string[]>;
  readonly becomeSent: (ids: readonly string[]) => Promise<void>;
  /** The ids of the messages that the sink has received, in order. */
  readonly received: () => string[];
}

/** @param prepare creates an account, whose messages are queued. */
export function useWorkers(prepare: (databaseUrl: string) => Promise<void>): Workers {
  const suite = { running: [] } as unknown as {
    database: TestDatabase;
    client: pg.Client;
    sink: SmtpSink;
    running: Running[];
  };
  beforeAll(async () => {
    suite.database = await createDatabase();
    await prepare(suite.database.url);
    suite.client = new pg.Client(suite.database.url);
    await suite.client.connect();
  });
  afterAll(async () => {
    await suite.client.end();
    await suite.database.drop();
  });
  beforeEach(async () => {
    suite.sink = await SmtpSink.open();
  });
  afterEach(async () => {
    suite.sink.resume();
    await Promise.all(suite.running.splice(0).map((worker) => worker.stop('SIGTERM')));
    await suite.sink.close();
  });

  return {
    get client() {
      return suite.client;
    },
    get sink() {
      return suite.sink;
    },
    byMail: () => ({ SMTP_URL: suite.sink.url, MAIL_FROM: 'api@example.com', STORE_EMAIL: 'store@example.com' }),
    async start(environment = {}) {
      const settings = { DATABASE_URL: suite.database.url, WORKER_PORT: '0', WORKER_HOST: '127.0.0.1' };
      const started = new Running(WORKER, [], { ...settings, ...environment });
      suite.running.push(started);
      const [, health = ''] = await started.prints(/^The worker is ready: .* health at (\S+)\/readyz$/m);
      return { process: started, health };
    },
    async queue(count) {
      const queued = Array.from({ length: count }, (_, number) =>
        suite.client.query<{ id: string }>(QUEUE_MESSAGE, [`message ${number}`]),
      );
      const ids = (await Promise.all(queued)).flatMap(({ rows }) => rows.map(({ id }) => id));
      await suite.client.query('NOTIFY message_queued');
      return ids;
    },
    async becomeSent(ids) {
      await until(async () => {
        const text = `SELECT count(*)::integer AS sent FROM messages WHERE id = ANY($1) AND status = 'sent'`;
        const { rows } = await suite.client.query<{ sent: number }>(text, [ids]);
        return rows[0]?.sent === ids.length;
      });
    },
    received: () => suite.sink.received.map((mail) => mail.header('X-Message-Id') ?? ''),
  };
}
