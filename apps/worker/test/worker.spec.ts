import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AccountId, createApplication } from '@adoption-store/domain';
import { byOperator, testPolicy } from '@adoption-store/domain/testing';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  connectTo,
  createDatabase,
  type Environment,
  expectDatabaseErrors,
  ProcessClock,
  Running,
  SmtpSink,
  temporaryFolder,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';
import type pg from 'pg';

// A purge of a table that a test has renamed.
expectDatabaseErrors('42P01');

const HOUR = 3_600_000;
/** The default of DELIVERY_CONCURRENCY. */
const CONCURRENCY = 8;

let database: TestDatabase;
let client: pg.Client;
let accountId: AccountId;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
/** A mail server for each test. */
let sink: SmtpSink;
const running: Running[] = [];

beforeAll(async () => {
  folder = await temporaryFolder();
  database = await createDatabase();
  client = await connectTo(database.url);
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO accounts (email, plan, created_at) VALUES ('visitor@example.com', 'free', now()) RETURNING id`,
  );
  accountId = BigInt(rows[0]?.id ?? 0) as AccountId;
});
afterAll(async () => {
  await client.end();
  await database.drop();
  await folder.remove();
});
beforeEach(async () => {
  sink = await SmtpSink.open();
});
afterEach(async () => {
  sink.resume();
  await Promise.all(running.splice(0).map((worker) => worker.stop('SIGTERM')));
  await sink.close();
  await client.query('DELETE FROM messages');
});

interface StartedWorker {
  readonly process: Running;
  /** The origin of its health and metrics. */
  readonly health: string;
}

/** Starts a worker. It is stopped after the test. */
async function start(environment: Environment): Promise<StartedWorker> {
  const settings = { DATABASE_URL: database.url, WORKER_PORT: '0', WORKER_HOST: '127.0.0.1' };
  const started = new Running(WORKER, [], { ...settings, ...environment });
  running.push(started);
  const [, health = ''] = await started.prints(/^The worker is ready: .* health at (\S+)\/readyz$/m);
  return { process: started, health };
}

/** Starts a worker that delivers to the sink. */
const startByMail = (more: Environment = {}) =>
  start({
    SMTP_URL: sink.url,
    MAIL_FROM: 'api@example.com',
    STORE_EMAIL: 'store@example.com',
    PORTAL_URL: 'https://portal.example.com',
    ...more,
  });

/** Queues messages as the API does, and returns their ids. */
async function queue(count: number, text = 'message'): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO messages (id, account_id, text, status, due_at, created_at)
     SELECT 'msg_' || left(md5(random()::text), 24), (SELECT min(id) FROM accounts), $1, 'queued', now(), now()
     FROM generate_series(1, $2) RETURNING id`,
    [text, count],
  );
  return rows.map(({ id }) => id);
}

async function queueOne(text?: string): Promise<string> {
  return (await queue(1, text))[0] ?? '';
}

async function statusOf(id: string): Promise<string | undefined> {
  const { rows } = await client.query<{ status: string }>('SELECT status FROM messages WHERE id = $1', [id]);
  return rows[0]?.status;
}

async function become(status: string, ids: readonly string[]): Promise<void> {
  await until(async () => {
    const text = 'SELECT count(*)::integer AS count FROM messages WHERE id = ANY($1) AND status = $2';
    const { rows } = await client.query<{ count: number }>(text, [ids, status]);
    return rows[0]?.count === ids.length;
  });
}

/** The ids of the messages that the sink has received, in order. */
const received = () => sink.received.map((mail) => mail.header('X-Message-Id') ?? '');
const becomeReceivedOnce = async (ids: readonly string[]) => {
  await become('sent', ids);
  expect(received().sort()).toEqual([...ids].sort());
};

const logOf = ({ process: { stdout } }: StartedWorker) =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const statusAt = async (page: string) => (await fetch(page)).status;

/** The lines of its metrics. */
const metricsOf = async ({ health }: StartedWorker) => (await (await fetch(`${health}/metrics`)).text()).split('\n');

/** Creates a webhook as a service with that secret does, or with the database's own. The URL isn't looked up. */
async function createWebhook(url: string, secret?: string) {
  const settings = secret === undefined ? {} : { webhookSecrets: [secret] };
  const { ports, close } = await openInfrastructure({
    policy: testPolicy(),
    databaseUrl: database.url,
    poolSize: 1,
    ...settings,
  });
  const webhookSender = { ...ports.webhookSender, check: (checked: string) => Promise.resolve(checked) };
  const application = createApplication({ ...ports, webhookSender }, testPolicy());
  const created = await application.createWebhook.execute(byOperator({ accountId, url }));
  return { application, close, ...created };
}

describe('a worker', () => {
  it('delivers messages by e-mail, marks them sent, and reports its work and that it is ready', async () => {
    const worker = await startByMail();
    const { health } = worker;
    expect(worker.process.stderr).toContain('messages go to store@example.com');
    const id = await queueOne('Is Luna still there?');
    await becomeReceivedOnce([id]);
    expect(sink.received[0]).toMatchObject({ to: ['store@example.com'], body: 'Is Luna still there?' });
    expect(await statusAt(`${health}/livez`)).toBe(200);
    await until(async () => (await statusAt(`${health}/readyz`)) === 200);
    const { headers } = await fetch(`${health}/metrics`);
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await metricsOf(worker)).toEqual(
      expect.arrayContaining([
        'adoption_store_message_deliveries_total{outcome="sent"} 1',
        'adoption_store_message_deliveries_total{outcome="failed"} 0',
        'adoption_store_message_send_seconds_count 1',
        'adoption_store_message_created_to_delivered_seconds_count 1',
        'adoption_store_messages_queued 0',
      ]),
    );
    for (const path of ['/', '/v1/pets', '/metrics/x']) expect(await statusAt(health + path)).toBe(404);
    expect((await fetch(`${health}/livez`, { method: 'POST' })).status).toBe(404);
    await worker.process.stop('SIGTERM');
    expect(logOf(worker)).toEqual([expect.objectContaining({ message: id, attempt: 1, outcome: 'sent' })]);
  });

  it('writes messages to its log without a mail server, whatever the log level, and says whose address is unproven', async () => {
    const worker = await start({ LOG_LEVEL: 'error' });
    expect(worker.process.stderr).toContain('messages are written to this log, because SMTP_URL is not set');
    const proven = await queueOne('Is Milo still there?');
    await become('sent', [proven]);
    await client.query('UPDATE accounts SET credential_version = 1');
    const unproven = await queueOne();
    await become('sent', [unproven]);
    await client.query('UPDATE accounts SET credential_version = 0');
    const { stdout } = await worker.process.stop('SIGTERM');
    expect(stdout).toContain('Is Milo still there?');
    const [first, second] = logOf(worker).filter((line) => 'message' in line);
    expect(first).toMatchObject({ message: proven, from: 'visitor@example.com' });
    expect(first).not.toHaveProperty('unproven');
    expect(second).toMatchObject({ message: unproven, unproven: true });
  });

  it('delivers once the mail server is back, and never shows its password', async () => {
    await sink.close();
    const SMTP_URL = sink.url.replace('//', '//user:hunter2@');
    const { process: worker } = await startByMail({ SMTP_URL, LOG_LEVEL: 'trace' });
    const id = await queueOne('Is anybody there?');
    await worker.prints(/"outcome":"postponed"/);
    expect(await statusOf(id)).toBe('queued');
    await sink.startAgain();
    // As when the pause before the next attempt is over.
    await client.query('UPDATE messages SET due_at = now() WHERE id = $1', [id]);
    await become('sent', [id]);
    const { stdout, stderr } = await worker.stop('SIGTERM');
    expect(stdout + stderr).not.toContain('hunter2');
    expect(stdout).not.toContain('Is anybody there?');
  });

  it('sends as many at a time as is configured', async () => {
    sink.trouble = { at: 'data', by: 'hanging' };
    // More than the default, and than connections to the database. A message that hangs longer than its lease is sent again.
    const concurrency = 3 * CONCURRENCY;
    const { process: worker } = await startByMail({ DELIVERY_CONCURRENCY: String(concurrency), MESSAGE_LEASE: '1h' });
    // Each job claims ten.
    const ids = await queue(10 * concurrency);
    await until(() => sink.offered === concurrency);
    sink.resume();
    await becomeReceivedOnce(ids);
    expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });

  it('gives a message up after its last attempt', async () => {
    sink.trouble = { at: 'recipient', by: 550 };
    await startByMail({ MESSAGE_ATTEMPTS: '1' });
    await become('failed', [await queueOne('To nobody')]);
    expect(sink.received).toEqual([]);
  });

  it('expires an order after ORDER_TTL; its animal is available again', async () => {
    await order("now() - interval '2 hours'");
    await start({ ORDER_TTL: '1h' });
    const ended = `SELECT FROM orders JOIN animals ON animals.id = animal_id
      WHERE orders.status = 'expired' AND animals.status = 'available'`;
    await until(async () => (await client.query(ended)).rowCount === 1);
    await client.query('DELETE FROM orders');
  });

  it('encrypts the secrets of webhooks with the first one of WEBHOOK_SECRET, and reports those that none decrypts', async () => {
    const [lost, old, next] = ['x', 'o', 'n'].map((each) => each.repeat(32));
    const kept = await createWebhook('https://example.com', old);
    const unreadable = await createWebhook('https://example.com', lost);
    const keys = async () =>
      (await client.query<{ id: string; secret_key: string }>('SELECT id, secret_key FROM webhooks')).rows;
    const before = await keys();
    const worker = await start({ WEBHOOK_SECRET: `${next},${old}` });
    await until(async () => (await metricsOf(worker)).includes('adoption_store_webhooks_unreadable 1'));
    const unchanged = (await keys()).filter((row) => before.some(({ secret_key: key }) => key === row.secret_key));
    expect(unchanged.map(({ id }) => id)).toEqual([unreadable.webhook.id]);
    const reported = () => logOf(worker).filter(({ msg }) => String(msg).startsWith('no secret of WEBHOOK_SECRET'));
    await until(() => reported().length > 0);
    expect(reported()).toMatchObject([{ webhook: unreadable.webhook.id }]);
    for (const { close } of [kept, unreadable]) await close();
    await client.query('DELETE FROM webhooks');
  });

  it('attempts deliveries to webhooks, tells the owner of one that it disables, and logs no path and no secret', async () => {
    // Nobody has this name.
    const url = 'https://receiver.invalid/hidden-path?hidden-query';
    const { application, webhook, secret, close } = await createWebhook(url);
    await client.query(`UPDATE webhooks SET failing_since = now() - interval '5 days', attempted_at = now()`);
    const { id: delivery } = await application.pingWebhook.execute(byOperator(webhook));
    const worker = await startByMail({ LOG_LEVEL: 'trace' });
    await until(() => sink.received.length === 1);
    expect(sink.received[0]).toMatchObject({ to: ['visitor@example.com'], body: expect.stringContaining(url) });
    expect(sink.received[0]?.header('Subject')).toBe('A webhook of your Animal Adoption Store account was disabled');
    expect(await application.getWebhook.execute(webhook)).toMatchObject({ status: 'disabled' });
    expect(await metricsOf(worker)).toContain('adoption_store_webhook_deliveries_total{outcome="postponed"} 1');
    const about = { webhook: webhook.id, delivery, event: 'webhook.ping', attempt: 1, outcome: 'postponed' };
    expect(logOf(worker)).toContainEqual(expect.objectContaining({ ...about, msg: 'webhook delivery postponed' }));
    expect(worker.process.stdout).not.toMatch(/hidden-/);
    expect(worker.process.stdout).not.toContain(secret.slice('whsec_'.length));
    await client.query('DELETE FROM webhooks');
    await close();
  });

  it('deletes old rows, reports how many and when, and one failing kind does not stop the others', async () => {
    await client.query('ALTER TABLE password_resets RENAME TO hidden');
    try {
      await client.query(`
        INSERT INTO messages (id, account_id, text, status, due_at, created_at)
        SELECT 'msg_old_' || n, (SELECT min(id) FROM accounts), 'Hello', 'sent', now(), now() - interval '3 days'
        FROM generate_series(1, 1500) AS n`);
      const worker = await start({ MESSAGE_RETENTION: '2d' });
      let lines: string[] = [];
      await until(async () => {
        lines = await metricsOf(worker);
        return (
          lines.includes('adoption_store_purged_total{kind="messages"} 1500') &&
          lines.some((line) => /^adoption_store_loop_failures_total\{loop="purge resets"\} [1-9]/.test(line))
        );
      });
      const completed = (kind: string) => {
        const name = `adoption_store_purge_completed_timestamp_seconds{kind="${kind}"} `;
        return Number(lines.find((line) => line.startsWith(name))?.slice(name.length));
      };
      // Still the start of the worker.
      expect(completed('resets')).toBeLessThan(completed('messages'));
      expect(completed('messages')).toBeLessThanOrEqual(Date.now() / 1_000);
    } finally {
      await client.query('ALTER TABLE hidden RENAME TO password_resets');
    }
  });
});

/** Places an order, at a time in SQL. */
const order = (createdAt: string) =>
  client.query(`
    WITH animal AS (INSERT INTO animals (name, name_key, category_id, status) VALUES ('Luna', 'luna', 1, 'pending') RETURNING id)
    INSERT INTO orders (account_id, animal_id, status, created_at, updated_at)
    SELECT (SELECT min(id) FROM accounts), id, 'placed', ${createdAt}, now() FROM animal`);

describe('a worker that is ended while it delivers', () => {
  it('is not ready any more, finishes the message it is sending, releases the rest, and exits with 0', async () => {
    sink.trouble = { at: 'data', by: 'hanging' };
    await queue(5);
    const { process: worker, health } = await startByMail({ DELIVERY_CONCURRENCY: '1', MESSAGE_LEASE: '1h' });
    await until(() => sink.offered === 1);
    worker.child.kill('SIGTERM');
    await until(async () => (await statusAt(`${health}/readyz`)) === 503);
    expect(await statusAt(`${health}/livez`)).toBe(200);
    sink.resume();
    expect(await worker.finished()).toMatchObject({ code: 0, stderr: '' });
    expect(sink.received).toHaveLength(1);
    // At once, not after the lease.
    const { rows } = await client.query(
      `SELECT status, due_at <= now() AS "isDue", count(*)::integer FROM messages GROUP BY 1, 2 ORDER BY 1`,
    );
    expect(rows).toEqual([
      { status: 'queued', isDue: true, count: 4 },
      expect.objectContaining({ status: 'sent', count: 1 }),
    ]);
  });

  it('exits with 0 within SHUTDOWN_TIMEOUT even if the mail server hangs, and the message is not lost', async () => {
    sink.trouble = { at: 'data', by: 'hanging' };
    const { process: worker } = await startByMail({ MESSAGE_LEASE: '1h', SHUTDOWN_TIMEOUT: '5s' });
    const id = await queueOne();
    await until(() => sink.offered === 1);
    // After SHUTDOWN_TIMEOUT it would exit with 1.
    expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    expect(await statusOf(id)).toBe('queued');
  });

  it('by SIGKILL loses no message, and only those it was sending are sent twice, after the lease', async () => {
    sink.trouble = { at: 'data', by: 'hanging' };
    const [killed, other] = [await startByMail({ MESSAGE_LEASE: '1h' }), await startByMail({ MESSAGE_LEASE: '1h' })];
    const ids = await queue(200);
    // All jobs of both are sending a message.
    await until(() => sink.offered === 2 * CONCURRENCY);
    await killed.process.stop('SIGKILL');
    sink.resume();
    const due = `SELECT FROM messages WHERE status = 'queued' AND due_at <= now()`;
    await until(async () => (await client.query(due)).rows.length === 0);
    expect(await other.process.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    const { rows: left } = await client.query<{ id: string }>(`SELECT id FROM messages WHERE status = 'queued'`);
    expect(left.length).toBeGreaterThanOrEqual(CONCURRENCY);
    const before = received();
    // As when the lease is over.
    await client.query(`UPDATE messages SET due_at = now() WHERE status = 'queued'`);
    await startByMail();
    await become('sent', ids);
    expect(new Set(received())).toEqual(new Set(ids));
    const twice = received().filter((id, index, all) => all.indexOf(id) < index);
    const lost = left.map(({ id }) => id).filter((id) => before.includes(id));
    expect(twice.sort()).toEqual(lost.sort());
    expect(twice.length).toBeLessThanOrEqual(CONCURRENCY);
  });
});

describe('a worker whose clock is an hour ahead', () => {
  const startAhead = (settings: Environment) =>
    start({ ...new ProcessClock(folder.path, Date.now() + HOUR).environment, ...settings });

  it('sends webhooks with the time of PostgreSQL, so that receivers don’t refuse them', async () => {
    const times: number[] = [];
    const receiver = createServer(({ headers }, response) => {
      times.push(Number(headers['webhook-timestamp']) * 1_000);
      response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const { application, webhook, close } = await createWebhook(`http://127.0.0.1:${port}`);
    await startAhead({ WEBHOOK_ALLOW: '127.0.0.0/8' });
    await application.pingWebhook.execute(byOperator(webhook));
    await until(() => times.length === 1);
    // What Standard Webhooks tolerates.
    expect(Math.abs((times[0] ?? NaN) - Date.now())).toBeLessThan(300_000);
    await client.query('DELETE FROM webhooks');
    await close();
    receiver.close();
  });

  it('expires and deletes nothing too early, and says why', async () => {
    await order("now() - interval '30 minutes'");
    await client.query(`
      INSERT INTO idempotency_records (account_id, key, fingerprint, answer, answered_at)
      SELECT min(id), 'recent', 'fingerprint', 'answer', now() - interval '23 hours 30 minutes' FROM accounts`);
    const worker = await startAhead({ ORDER_TTL: '1h' });
    const reason = "the clock of this process is 3\\d{3} s ahead of PostgreSQL's";
    for (const loop of ['expire orders', 'purge answers'])
      await worker.process.prints(new RegExp(`"loop":"${loop}","reason":"${reason}"`));
    const orders = await client.query(
      'SELECT status, (SELECT count(*)::int FROM idempotency_records) AS answers FROM orders',
    );
    expect(orders.rows).toEqual([{ status: 'placed', answers: 1 }]);
    expect(await metricsOf(worker)).toContainEqual(expect.stringMatching(/^clock_skew_seconds 3\d{3}\./));
  });
});
