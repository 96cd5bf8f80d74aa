import { describe, expect, it } from '@jest/globals';
import { ask, until } from '@adoption-store/test-support';
import { useWorkers } from './support/workers.js';

const workers = useWorkers(async (databaseUrl) => {
  await ask(
    databaseUrl,
    `INSERT INTO accounts (email, plan, created_at) VALUES ('visitor@example.com', 'free', now())`,
  );
});

const queueOne = async () => (await workers.queue(1))[0] ?? '';

async function statusOf(id: string): Promise<string | undefined> {
  const { rows } = await workers.client.query<{ status: string }>('SELECT status FROM messages WHERE id = $1', [id]);
  return rows[0]?.status;
}

describe('its health and metrics', () => {
  it('report that it is not ready as soon as it must stop', async () => {
    workers.sink.trouble = { at: 'data', by: 'hanging' };
    const { process: worker, health } = await workers.start(workers.byMail());
    const id = await queueOne();
    await until(() => workers.sink.offered === 1);
    worker.child.kill('SIGTERM');
    await until(async () => (await fetch(`${health}/readyz`)).status === 503);
    expect((await fetch(`${health}/livez`)).status).toBe(200);
    workers.sink.resume();
    expect(await worker.finished()).toMatchObject({ code: 0, stderr: '' });
    expect(await statusOf(id)).toBe('sent');
  });
});

describe('a worker that is ended while it delivers', () => {
  it('finishes the message it is sending, releases the rest, and exits with 0', async () => {
    workers.sink.trouble = { at: 'data', by: 'hanging' };
    const ids = await workers.queue(5);
    const { process: worker, health } = await workers.start({ ...workers.byMail(), DELIVERY_CONCURRENCY: '1' });
    await until(() => workers.sink.offered === 1);
    worker.child.kill('SIGTERM');
    await until(async () => (await fetch(`${health}/readyz`)).status === 503);
    workers.sink.resume();
    expect(await worker.finished()).toMatchObject({ code: 0, stderr: '' });
    expect(workers.sink.received).toHaveLength(1);
    // At once, not after the lease of half a minute.
    const before = performance.now();
    await workers.start(workers.byMail());
    await workers.becomeSent(ids);
    expect(performance.now() - before).toBeLessThan(15_000);
    expect(workers.received().sort()).toEqual([...ids].sort());
  });

  it.each([
    ['10 s', 10_000, {}],
    ['SHUTDOWN_TIMEOUT', 5_000, { SHUTDOWN_TIMEOUT: '5s' }],
  ])(
    'exits with 0 within %s even if the mail server hangs, and the message is not lost',
    async (_, limit, settings) => {
      workers.sink.trouble = { at: 'data', by: 'hanging' };
      const { process: worker } = await workers.start({ ...workers.byMail(), MESSAGE_LEASE: '1h', ...settings });
      const id = await queueOne();
      await until(() => workers.sink.offered === 1);
      const before = performance.now();
      expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
      expect(performance.now() - before).toBeLessThan(limit);
      expect(await statusOf(id)).toBe('queued');
      await workers.client.query(`DELETE FROM messages WHERE id = $1`, [id]);
    },
  );

  it('by SIGKILL leaves its messages to another one after the lease', async () => {
    workers.sink.trouble = { at: 'recipient', by: 'hanging' };
    const killed = await workers.start({ ...workers.byMail(), MESSAGE_LEASE: '2s' });
    const id = await queueOne();
    await until(() => workers.sink.connections === 1);
    await killed.process.stop('SIGKILL');
    workers.sink.resume();
    await workers.start({ ...workers.byMail(), MESSAGE_LEASE: '2s' });
    await workers.becomeSent([id]);
    expect(workers.received()).toEqual([id]);
  });
});
