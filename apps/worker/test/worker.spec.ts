import { Agent, request } from 'node:http';
import { afterAll, describe, expect, it } from '@jest/globals';
import { API, KEYS, run, Running, until } from '@adoption-store/test-support';
import { type StartedWorker, useWorkers } from './support/workers.js';

/** Messages that the workers process while they are killed. More take longer and prove more. */
const MESSAGES = Number(process.env['MESSAGE_COUNT'] ?? 200);
const KILLS = Number(process.env['MESSAGE_KILLS'] ?? 2);
const CONCURRENCY = 8;

const agent = new Agent({ keepAlive: true, maxSockets: 32 });
const suite = {} as { api: Running; origin: string; key: string };
const workers = useWorkers(async (databaseUrl) => {
  suite.api = new Running(API, [], { DATABASE_URL: databaseUrl, PORT: '0', HOST: '127.0.0.1' });
  suite.origin = (await suite.api.prints(/Address {2}(\S+)\/v1/))[1] ?? '';
  const plan = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000'];
  const created = await run(KEYS, ['create', '--email', 'visitor@example.com', ...plan], { DATABASE_URL: databaseUrl });
  suite.key = created.stdout.trim();
});
const { byMail, received } = workers;

afterAll(async () => {
  agent.destroy();
  await suite.api.stop();
});

function call(method: string, path: string, body?: unknown): Promise<{ status: number; body: string }> {
  const headers = {
    authorization: `Bearer ${suite.key}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    request(`${suite.origin}/v1${path}`, { agent, method, headers }, (response) => {
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

async function becomesSent(id: string): Promise<void> {
  await until(async () => (await statusOf(id)) === 'sent');
}

const logOf = (worker: StartedWorker) =>
  worker.process.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('a worker', () => {
  it('delivers accepted messages by e-mail and marks them sent', async () => {
    const worker = await workers.start(byMail());
    expect(worker.process.stderr).toContain('messages go to store@example.com');
    const id = await write('Is Luna still there?');
    await becomesSent(id);
    expect(workers.sink.received).toHaveLength(1);
    expect(workers.sink.received[0]).toMatchObject({ to: ['store@example.com'], body: 'Is Luna still there?' });
    expect(received()).toEqual([id]);
    await worker.process.stop('SIGTERM');
    expect(logOf(worker)).toEqual([expect.objectContaining({ message: id, attempt: 1, outcome: 'sent' })]);
  });

  it('writes messages to its log without a mail server, whatever the log level', async () => {
    const worker = await workers.start({ LOG_LEVEL: 'error' });
    expect(worker.process.stderr).toContain('messages are written to this log, because SMTP_URL is not set');
    const id = await write('Is Milo still there?');
    await becomesSent(id);
    const { stdout } = await worker.process.stop('SIGTERM');
    expect(stdout).toContain('Is Milo still there?');
    expect(logOf(worker)).toEqual([expect.objectContaining({ message: id, from: 'visitor@example.com' })]);
  });

  it('delivers once the mail server is back, and never shows its password', async () => {
    await workers.sink.close();
    const SMTP_URL = workers.sink.url.replace('//', '//user:hunter2@');
    const worker = await workers.start({ ...byMail(), SMTP_URL, LOG_LEVEL: 'trace' });
    const id = await write('Is anybody there?');
    await worker.process.prints(/"outcome":"postponed"/);
    expect(await statusOf(id)).toBe('queued');
    await workers.sink.startAgain();
    // As when the pause before the next attempt is over.
    await workers.client.query('UPDATE messages SET due_at = now() WHERE id = $1', [id]);
    await becomesSent(id);
    const { stdout, stderr } = await worker.process.stop('SIGTERM');
    expect(stdout + stderr).not.toContain('hunter2');
    expect(stdout).not.toContain('Is anybody there?');
  });

  it('sends a hundred at a time if configured so', async () => {
    workers.sink.trouble = { at: 'data', by: 'hanging' };
    // A message that hangs longer than its lease is sent again.
    const settings = { ...byMail(), DELIVERY_CONCURRENCY: '100', MESSAGE_LEASE: '1h' };
    const { process: worker } = await workers.start(settings);
    const ids = await workers.queue(1_000);
    await until(() => workers.sink.offered === 100);
    workers.sink.resume();
    await workers.becomeSent(ids);
    expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    expect(received().sort()).toEqual([...ids].sort());
  });

  it('gives a message up after its last attempt', async () => {
    workers.sink.trouble = { at: 'recipient', by: 550 };
    await workers.start({ ...byMail(), MESSAGE_ATTEMPTS: '1' });
    const id = await write('To nobody');
    await until(async () => (await statusOf(id)) === 'failed');
    expect(workers.sink.received).toEqual([]);
  });

  it('continues after the loss of all its database connections', async () => {
    const worker = await workers.start(byMail());
    await workers.client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    const ids = [];
    // The API has lost its connections too.
    await until(async () => (await call('GET', '/pets')).status === 200);
    for (let index = 0; index < 20; index += 1) ids.push(await write(`message ${index}`));
    await workers.becomeSent(ids);
    expect(received().sort()).toEqual([...ids].sort());
    expect(worker.process.child.exitCode).toBeNull();
  });

  it('expires an order after ORDER_TTL; its animal is available again', async () => {
    await workers.start({ ORDER_TTL: '1s' });
    const { id: petId } = await answer<{ id: number }>(201, 'POST', '/pets', { name: 'Luna', categoryId: 1 });
    const order = await answer<{ id: number; status: string }>(201, 'POST', '/store/orders', { petId });
    expect(order.status).toBe('placed');
    const statusNow = async () => (await answer<{ status: string }>(200, 'GET', `/store/orders/${order.id}`)).status;
    await until(async () => (await statusNow()) === 'expired');
    expect(await answer(200, 'GET', `/pets?id=${petId}`)).toEqual([expect.objectContaining({ status: 'available' })]);
  });
});

describe('its clean-up', () => {
  it('deletes old messages and keys, reports how many and when, and one failing kind does not stop the others', async () => {
    await workers.client.query('ALTER TABLE password_resets RENAME TO hidden');
    try {
      await workers.client.query(`
        INSERT INTO messages (id, account_id, text, status, due_at, created_at)
        SELECT 'msg_old_' || n, (SELECT min(id) FROM accounts), 'Hello', 'sent', now(), now() - interval '3 days'
        FROM generate_series(1, 1500) AS n`);
      await workers.client.query(`
        INSERT INTO api_keys (account_id, hash, ending, created_at, revoked_at)
        SELECT (SELECT min(id) FROM accounts), encode(sha256(('old ' || n)::bytea), 'hex'), 'abcd', now() - interval '402 days',
          now() - interval '401 days'
        FROM generate_series(1, 150) AS n`);
      const { health } = await workers.start({ MESSAGE_RETENTION: '2d' });
      let lines: string[] = [];
      await until(async () => {
        lines = (await (await fetch(`${health}/metrics`)).text()).split('\n');
        return (
          lines.includes('adoption_store_purged_total{kind="messages"} 1500') &&
          lines.includes('adoption_store_purged_total{kind="keys"} 150') &&
          lines.some((line) => /^adoption_store_loop_failures_total\{loop="purge resets"\} [1-9]/.test(line))
        );
      });
      const completed = (kind: string) => {
        const name = `adoption_store_purge_completed_timestamp_seconds{kind="${kind}"} `;
        return Number(lines.find((line) => line.startsWith(name))?.slice(name.length));
      };
      expect(Math.abs(completed('messages') - Date.now() / 1_000)).toBeLessThan(60);
      // Still the start of the worker.
      expect(completed('resets')).toBeLessThan(completed('messages'));
      const { rows } = await workers.client.query(
        `SELECT count(*)::int AS count FROM messages WHERE id LIKE 'msg_old_%'`,
      );
      expect(rows).toEqual([{ count: 0 }]);
    } finally {
      await workers.client.query('ALTER TABLE hidden RENAME TO password_resets');
    }
  });
});

describe('its health and metrics', () => {
  it('report that it lives and is ready, and its work', async () => {
    const { health } = await workers.start(byMail());
    const id = await write('counted');
    await becomesSent(id);
    expect((await fetch(`${health}/livez`)).status).toBe(200);
    await until(async () => (await fetch(`${health}/readyz`)).status === 200);
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
    const { health } = await workers.start();
    for (const path of ['/', '/v1/pets', '/metrics/x']) expect((await fetch(health + path)).status).toBe(404);
    expect((await fetch(`${health}/livez`, { method: 'POST' })).status).toBe(404);
  });
});

describe('two workers', () => {
  it('never send the same message twice', async () => {
    workers.sink.trouble = { at: 'data', by: 'hanging' };
    await Promise.all([workers.start(byMail()), workers.start(byMail())]);
    const ids = await workers.queue(300);
    // All lanes of both workers are sending a message.
    await until(() => workers.sink.offered === 2 * CONCURRENCY);
    workers.sink.resume();
    await workers.becomeSent(ids);
    expect(received().sort()).toEqual([...ids].sort());
  });

  it.each([CONCURRENCY, 1])(
    `lose none of ${MESSAGES} messages through ${KILLS} SIGKILLs, and send one again only after a crash, %d at a time`,
    async (concurrency) => {
      const settings = { ...byMail(), MESSAGE_LEASE: '3s', DELIVERY_CONCURRENCY: String(concurrency) };
      const pair = await Promise.all([workers.start(settings), workers.start(settings)]);
      const ids: string[] = [];
      /** The number of mails before each crash, and after another worker took over. */
      const crashes: { readonly before: number; readonly after: number }[] = [];
      for (let kill = 0; kill < KILLS; kill += 1) {
        const wave = Math.ceil((MESSAGES - ids.length) / (KILLS - kill));
        const before = workers.sink.received.length;
        const writing = writeMany(wave);
        await until(() => workers.sink.received.length >= before + wave / 4);
        const beforeCrash = workers.sink.received.length;
        await pair[kill % 2]?.process.stop('SIGKILL');
        pair[kill % 2] = await workers.start(settings);
        crashes.push({ before: beforeCrash, after: workers.sink.received.length });
        ids.push(...(await writing));
      }
      await until(
        async () => {
          const { rows } = await workers.client.query<{ left: number }>(
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
