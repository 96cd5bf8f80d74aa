import { Agent, request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  API,
  createDatabase,
  type Environment,
  KEYS,
  run,
  Running,
  SmtpSink,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';

/** Messages that the workers process while they are killed. More take longer and prove more. */
const MESSAGES = Number(process.env['MESSAGE_COUNT'] ?? 200);
const KILLS = Number(process.env['MESSAGE_KILLS'] ?? 2);
const CONCURRENCY = 8;

let database: TestDatabase;
let client: pg.Client;
let api: Running;
let origin: string;
let key: string;
let sink: SmtpSink;
let workers: Running[] = [];
const agent = new Agent({ keepAlive: true, maxSockets: 32 });

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  // The tests cut connections, including this one.
  client.on('error', () => undefined);
  await client.connect();
  api = new Running(API, [], { DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1' });
  origin = (await api.prints(/Address {2}(\S+)\/v1/))[1] ?? '';
  const plan = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000'];
  const created = await run(KEYS, ['create', '--email', 'visitor@example.com', ...plan], {
    DATABASE_URL: database.url,
  });
  key = created.stdout.trim();
});

afterAll(async () => {
  agent.destroy();
  await api.stop();
  await client.end();
  await database.drop();
});

beforeEach(async () => {
  sink = await SmtpSink.open();
});

afterEach(async () => {
  sink.resume();
  await Promise.all(workers.map((worker) => worker.stop('SIGTERM')));
  workers = [];
  await sink.close();
});

interface StartedWorker {
  readonly process: Running;
  readonly health: string;
}

async function startWorker(environment: Environment = {}): Promise<StartedWorker> {
  const settings = { DATABASE_URL: database.url, WORKER_PORT: '0', WORKER_HOST: '127.0.0.1', ...environment };
  const started = new Running(WORKER, [], settings);
  workers.push(started);
  const [, health = ''] = await started.prints(/^The worker is ready: .* health at (\S+)\/readyz$/m);
  return { process: started, health };
}

const byMail = (): Environment => ({
  SMTP_URL: sink.url,
  MAIL_FROM: 'api@example.com',
  STORE_EMAIL: 'store@example.com',
});

function call(method: string, path: string, body?: unknown): Promise<{ status: number; body: string }> {
  const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) };
  return new Promise((resolve, reject) => {
    request(`${origin}/v1${path}`, { agent, method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: text });
      });
    })
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function answer<Body>(status: number, method: string, path: string, body?: unknown): Promise<Body> {
  const response = await call(method, path, body);
  expect(response).toMatchObject({ status });
  return JSON.parse(response.body) as Body;
}

async function write(message: string): Promise<string> {
  return (await answer<{ id: string }>(202, 'POST', '/messages', { message })).id;
}

function writeMany(count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => write(`message ${index}`)));
}

async function statusOf(id: string): Promise<string> {
  return (await answer<{ status: string }>(200, 'GET', `/messages/${id}`)).status;
}

async function becomesSent(...ids: string[]): Promise<void> {
  for (const id of ids) await until(async () => (await statusOf(id)) === 'sent');
}

const received = () => sink.received.map((mail) => mail.header('X-Message-Id') ?? '');
const logOf = (worker: StartedWorker) =>
  worker.process.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('a worker', () => {
  it('delivers accepted messages by e-mail and marks them sent', async () => {
    const worker = await startWorker(byMail());
    expect(worker.process.stderr).toContain('messages go to store@example.com');
    const id = await write('Is Luna still there?');
    await becomesSent(id);
    expect(sink.received).toHaveLength(1);
    expect(sink.received[0]).toMatchObject({ to: ['store@example.com'], body: 'Is Luna still there?' });
    expect(received()).toEqual([id]);
    await worker.process.stop('SIGTERM');
    expect(logOf(worker)).toEqual([expect.objectContaining({ message: id, attempt: 1, outcome: 'sent' })]);
  });

  it('writes messages to its log without a mail server, whatever the log level', async () => {
    const worker = await startWorker({ LOG_LEVEL: 'error' });
    expect(worker.process.stderr).toContain('messages are written to this log, because SMTP_URL is not set');
    const id = await write('Is Milo still there?');
    await becomesSent(id);
    const { stdout } = await worker.process.stop('SIGTERM');
    expect(stdout).toContain('Is Milo still there?');
    expect(logOf(worker)).toEqual([expect.objectContaining({ message: id, from: 'visitor@example.com' })]);
  });

  it('delivers once the mail server is back, and never shows its password', async () => {
    await sink.close();
    const SMTP_URL = sink.url.replace('//', '//user:hunter2@');
    const worker = await startWorker({ ...byMail(), SMTP_URL, LOG_LEVEL: 'trace' });
    const id = await write('Is anybody there?');
    await worker.process.prints(/"outcome":"postponed"/);
    expect(await statusOf(id)).toBe('queued');
    await sink.startAgain();
    await becomesSent(id);
    const { stdout, stderr } = await worker.process.stop('SIGTERM');
    expect(stdout + stderr).not.toContain('hunter2');
    expect(stdout).not.toContain('Is anybody there?');
  });

  it('sends a hundred at a time if configured so', async () => {
    sink.trouble = { at: 'data', by: 'hanging' };
    const { process: worker } = await startWorker({ ...byMail(), DELIVERY_CONCURRENCY: '100' });
    const ids = await writeMany(1_000);
    await until(() => sink.offered === 100);
    sink.resume();
    await becomesSent(...ids);
    expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    expect(received().sort()).toEqual(ids.sort());
  });

  it('gives a message up after its last attempt', async () => {
    sink.trouble = { at: 'recipient', by: 550 };
    await startWorker({ ...byMail(), MESSAGE_ATTEMPTS: '1' });
    const id = await write('To nobody');
    await until(async () => (await statusOf(id)) === 'failed');
    expect(sink.received).toEqual([]);
  });

  it('continues after the loss of all its database connections', async () => {
    const worker = await startWorker(byMail());
    await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    const ids = [];
    // The API has lost its connections too.
    await until(async () => (await call('GET', '/pets')).status === 200);
    for (let index = 0; index < 20; index += 1) ids.push(await write(`message ${index}`));
    await becomesSent(...ids);
    expect(received().sort()).toEqual(ids.sort());
    expect(worker.process.child.exitCode).toBeNull();
  });

  it('expires an order after ORDER_TTL; its animal is available again', async () => {
    await startWorker({ ORDER_TTL: '1s' });
    const { id: petId } = await answer<{ id: number }>(201, 'POST', '/pets', { name: 'Luna', categoryId: 1 });
    const order = await answer<{ id: number; status: string }>(201, 'POST', '/store/orders', { petId });
    expect(order.status).toBe('placed');
    const statusNow = async () => (await answer<{ status: string }>(200, 'GET', `/store/orders/${order.id}`)).status;
    await until(async () => (await statusNow()) === 'expired');
    expect(await answer(200, 'GET', `/pets?id=${petId}`)).toEqual([expect.objectContaining({ status: 'available' })]);
  });
});

describe('its clean-up', () => {
  it('deletes old messages and keys, reports how many, and one failing kind does not stop the others', async () => {
    await client.query('ALTER TABLE password_resets RENAME TO hidden');
    try {
      await client.query(`
        INSERT INTO messages (id, account_id, text, status, due_at, created_at)
        SELECT 'msg_old_' || n, (SELECT min(id) FROM accounts), 'Hello', 'sent', now(), now() - interval '3 days'
        FROM generate_series(1, 1500) AS n`);
      await client.query(`
        INSERT INTO api_keys (account_id, hash, ending, created_at, revoked_at)
        SELECT (SELECT min(id) FROM accounts), encode(sha256(('old ' || n)::bytea), 'hex'), 'abcd', now() - interval '402 days',
          now() - interval '401 days'
        FROM generate_series(1, 150) AS n`);
      const { health } = await startWorker({ MESSAGE_RETENTION: '2d' });
      await until(async () => {
        const lines = (await (await fetch(`${health}/metrics`)).text()).split('\n');
        return (
          lines.includes('adoption_store_purged_total{kind="messages"} 1500') &&
          lines.includes('adoption_store_purged_total{kind="keys"} 150') &&
          lines.some((line) => /^adoption_store_loop_failures_total\{loop="purge resets"\} [1-9]/.test(line))
        );
      });
      const { rows } = await client.query(`SELECT count(*)::int AS count FROM messages WHERE id LIKE 'msg_old_%'`);
      expect(rows).toEqual([{ count: 0 }]);
    } finally {
      await client.query('ALTER TABLE hidden RENAME TO password_resets');
    }
  });
});

describe('its health and metrics', () => {
  it('report that it lives and is ready, and its work', async () => {
    const { health } = await startWorker(byMail());
    const id = await write('counted');
    await becomesSent(id);
    for (const path of ['/livez', '/readyz']) expect((await fetch(health + path)).status).toBe(200);
    const response = await fetch(`${health}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const lines = (await response.text()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'adoption_store_message_deliveries_total{outcome="sent"} 1',
        'adoption_store_message_deliveries_total{outcome="failed"} 0',
        'adoption_store_message_send_seconds_count 1',
        'adoption_store_message_created_to_delivered_seconds_count 1',
        'adoption_store_messages_queued 0',
        'adoption_store_message_oldest_age_seconds 0',
        'adoption_store_orders_expired_total 0',
        expect.stringMatching(/^adoption_store_purged_total\{kind="answers"\} \d+$/),
        'adoption_store_loop_failures_total{loop="deliver messages"} 0',
        expect.stringMatching(/^process_resident_memory_bytes \d+$/),
      ]),
    );
  });

  it('are its only pages', async () => {
    const { health } = await startWorker();
    for (const path of ['/', '/v1/pets', '/metrics/x']) expect((await fetch(health + path)).status).toBe(404);
    expect((await fetch(`${health}/livez`, { method: 'POST' })).status).toBe(404);
  });

  it('report that it is not ready as soon as it must stop', async () => {
    sink.trouble = { at: 'data', by: 'hanging' };
    const { process: worker, health } = await startWorker(byMail());
    const id = await write('the last one');
    await until(() => sink.offered === 1);
    worker.child.kill('SIGTERM');
    await until(async () => (await fetch(`${health}/readyz`)).status === 503);
    expect((await fetch(`${health}/livez`)).status).toBe(200);
    sink.resume();
    expect(await worker.finished()).toMatchObject({ code: 0, stderr: '' });
    expect(await statusOf(id)).toBe('sent');
  });
});

describe('a worker that is ended while it delivers', () => {
  it('finishes the message it is sending, releases the rest, and exits with 0', async () => {
    sink.trouble = { at: 'data', by: 'hanging' };
    const ids = await writeMany(5);
    const { process: worker, health } = await startWorker({ ...byMail(), DELIVERY_CONCURRENCY: '1' });
    await until(() => sink.offered === 1);
    worker.child.kill('SIGTERM');
    await until(async () => (await fetch(`${health}/readyz`)).status === 503);
    sink.resume();
    expect(await worker.finished()).toMatchObject({ code: 0, stderr: '' });
    expect(sink.received).toHaveLength(1);
    // At once, not after the lease of half a minute.
    const before = performance.now();
    await startWorker(byMail());
    await becomesSent(...ids);
    expect(performance.now() - before).toBeLessThan(15_000);
    expect(received().sort()).toEqual(ids.sort());
  });

  it.each([
    ['10 s', 10_000, {}],
    ['SHUTDOWN_TIMEOUT', 5_000, { SHUTDOWN_TIMEOUT: '5s' }],
  ])(
    'exits with 0 within %s even if the mail server hangs, and the message is not lost',
    async (_, limit, settings) => {
      sink.trouble = { at: 'data', by: 'hanging' };
      const { process: worker } = await startWorker({ ...byMail(), MESSAGE_LEASE: '1h', ...settings });
      const id = await write('never acknowledged');
      await until(() => sink.offered === 1);
      const before = performance.now();
      expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
      expect(performance.now() - before).toBeLessThan(limit);
      expect(await statusOf(id)).toBe('queued');
      await client.query(`DELETE FROM messages WHERE id = $1`, [id]);
    },
  );

  it('by SIGKILL leaves its messages to another one after the lease', async () => {
    sink.trouble = { at: 'recipient', by: 'hanging' };
    const killed = await startWorker({ ...byMail(), MESSAGE_LEASE: '2s' });
    const id = await write('survives');
    await until(() => sink.connections === 1);
    await killed.process.stop('SIGKILL');
    sink.resume();
    await startWorker({ ...byMail(), MESSAGE_LEASE: '2s' });
    await becomesSent(id);
    expect(received()).toEqual([id]);
  });
});

describe('two workers', () => {
  it('never send the same message twice', async () => {
    sink.trouble = { at: 'data', by: 'hanging' };
    await Promise.all([startWorker(byMail()), startWorker(byMail())]);
    const ids = await writeMany(300);
    // All lanes of both workers are sending a message.
    await until(() => sink.offered === 2 * CONCURRENCY);
    sink.resume();
    await becomesSent(...ids);
    expect(received().sort()).toEqual(ids.sort());
  });

  it.each([CONCURRENCY, 1])(
    `lose none of ${MESSAGES} messages through ${KILLS} SIGKILLs, and send one again only after a crash, %d at a time`,
    async (concurrency) => {
      const settings = { ...byMail(), MESSAGE_LEASE: '3s', DELIVERY_CONCURRENCY: String(concurrency) };
      const pair = await Promise.all([startWorker(settings), startWorker(settings)]);
      const ids: string[] = [];
      /** The number of mails before each crash, and after another worker took over. */
      const crashes: { readonly before: number; readonly after: number }[] = [];
      for (let kill = 0; kill < KILLS; kill += 1) {
        const wave = Math.ceil((MESSAGES - ids.length) / (KILLS - kill));
        const before = sink.received.length;
        const writing = writeMany(wave);
        await until(() => sink.received.length >= before + wave / 4);
        const beforeCrash = sink.received.length;
        await pair[kill % 2]?.process.stop('SIGKILL');
        pair[kill % 2] = await startWorker(settings);
        crashes.push({ before: beforeCrash, after: sink.received.length });
        ids.push(...(await writing));
      }
      await until(
        async () => {
          const { rows } = await client.query<{ left: number }>(
            `SELECT count(*)::integer AS left FROM messages WHERE status = 'queued'`,
          );
          return rows[0]?.left === 0;
        },
        { what: 'no message is left to be sent', within: 30_000 + MESSAGES * 20 },
      );
      const all = received();
      expect(new Set(all)).toEqual(new Set(ids));
      const unexplained = ids.filter((id) => {
        const [first, last] = [all.indexOf(id), all.lastIndexOf(id)];
        const times = all.filter((each) => each === id).length;
        return times - 1 > crashes.filter(({ before, after }) => before <= last && first <= after).length;
      });
      expect(unexplained).toEqual([]);
      const duplicates = all.length - ids.length;
      if (KILLS > 2) console.log(`${ids.length} messages, ${KILLS} SIGKILLs: ${duplicates} sent again`);
      // Each lane of a killed worker may have sent one message that it could not record.
      expect(duplicates).toBeLessThanOrEqual(KILLS * concurrency);
    },
    60_000 + KILLS * 10_000 + MESSAGES * 20,
  );
});
