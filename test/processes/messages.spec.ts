import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AccountId, instant, later, type Message, MINUTE, newMessageId } from '@adoption-store/domain';
import { type Infrastructure, openInfrastructure } from '@adoption-store/infrastructure';
import {
  createDatabase,
  MESSAGES,
  run,
  Running,
  SmtpSink,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';

const TEXT = 'for the store alone';
const NOVEMBER = instant(Date.UTC(2026, 10, 1));

let database: TestDatabase;
let store: Infrastructure;
let accountId: AccountId;
beforeAll(async () => {
  database = await createDatabase();
  store = await openInfrastructure({ databaseUrl: database.url, poolSize: 2 });
  const account = {
    email: 'writer@example.com',
    plan: { name: 'free' as const },
    scopes: undefined,
    createdAt: NOVEMBER,
  };
  accountId = (await store.ports.accounts.open(account)).id;
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const messages = (...args: string[]) => run(MESSAGES, args, { DATABASE_URL: database.url });

function queued(createdAt = NOVEMBER): Promise<Message> {
  const id = newMessageId(store.ports.cryptography);
  return store.ports.messages.add({ id, accountId, text: TEXT, createdAt });
}

async function failed(createdAt = NOVEMBER): Promise<Message> {
  const message = await queued(createdAt);
  const claimed = await store.ports.messages.claim({ limit: 100, lease: MINUTE });
  for (const claim of claimed) if (claim.id === message.id) await store.ports.messages.markFailed(claim);
  return message;
}

const statusOf = async ({ id }: Message) => (await store.ports.messages.findById(accountId, id))?.status;
const rowOf = ({ id, createdAt }: Message, status: string) =>
  `${id}  writer@example.com  ${status.padEnd(6)}  ${new Date(createdAt).toISOString()}`;

describe('messages list', () => {
  it('shows failed messages, or those of an account, and never their text', async () => {
    const [one, other] = [await failed(), await queued(later(NOVEMBER, 1))];
    const failing = await messages('list', '--failed');
    expect(failing).toMatchObject({ code: 0, stderr: '' });
    expect(failing.stdout).toContain(rowOf(one, 'failed'));
    expect(failing.stdout).not.toContain(other.id);
    const theirs = await messages('list', '--account', 'WRITER@example.com');
    expect(theirs.stdout).toContain(`${rowOf(one, 'failed')}\n`);
    expect(theirs.stdout).toContain(`${rowOf(other, 'queued')}\n`);
    expect((await messages('list', '--failed', '--account', 'writer@example.com')).stdout).not.toContain(other.id);
    for (const { stdout } of [failing, theirs]) expect(stdout).not.toContain(TEXT);
    const none = await messages('list', '--account', 'nobody@example.com');
    expect(none).toMatchObject({ code: 0, stdout: 'ID  ACCOUNT  STATUS  WRITTEN\n' });
    await store.ports.messages.markSent(other.id);
  });
});

describe('messages retry', () => {
  it('queues a failed message again, which a worker then delivers once', async () => {
    const message = await failed();
    const sink = await SmtpSink.open();
    const worker = new Running(WORKER, [], {
      DATABASE_URL: database.url,
      ...{ WORKER_PORT: '0', WORKER_HOST: '127.0.0.1' },
      ...{ SMTP_URL: sink.url, MAIL_FROM: 'api@example.com', STORE_EMAIL: 'store@example.com' },
    });
    await worker.prints(/The worker is ready/);
    const { code, stdout, stderr } = await messages('retry', message.id);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `message ${message.id} is queued again\n`,
      stderr: '',
    });
    await until(async () => (await statusOf(message)) === 'sent');
    expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0 });
    expect(sink.received.map((mail) => mail.header('X-Message-Id'))).toEqual([message.id]);
    await sink.close();
  });

  it('retries each allowed message, names the others, and then exits with 1', async () => {
    const [one, other] = [await failed(), await queued()];
    const { code, stdout, stderr } = await messages('retry', other.id, one.id, `msg_${'0'.repeat(24)}`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: `message ${one.id} is queued again\n` });
    expect(stderr).toBe(
      `message ${other.id} has not failed: it is queued\nno message has the id msg_${'0'.repeat(24)}\n`,
    );
  });

  it('is done by one of two commands that run at the same time', async () => {
    const message = await failed();
    const finished = await Promise.all([messages('retry', message.id), messages('retry', message.id)]);
    expect(finished.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(finished.map(({ stderr }) => stderr)).toContain(`message ${message.id} has not failed: it is queued\n`);
  });

  it('retries all failed messages created since a time', async () => {
    const [before, since, after] = [
      await failed(later(NOVEMBER, -1)),
      await failed(),
      await failed(later(NOVEMBER, 1)),
    ];
    const { code, stdout, stderr } = await messages('retry', '--all-failed', '--since', '2026-11-01T02:00:00+02:00');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\d+ messages are queued again\n$/);
    expect([await statusOf(before), await statusOf(since), await statusOf(after)]).toEqual([
      'failed',
      'queued',
      'queued',
    ]);
    const again = await messages('retry', '--all-failed', '--since', '2026-11-01T00:00:00Z');
    expect(again).toMatchObject({ code: 0, stdout: '0 messages are queued again\n' });
  });
});

describe('messages with bad arguments prints its usage on standard error and exits with 64', () => {
  it.each([
    [[]],
    [['show']],
    [['list']],
    [['list', '--account', 'nobody']],
    [['list', 'everything', '--failed']],
    [['retry']],
    [['retry', '7']],
    [['retry', '--all-failed']],
    [['retry', '--all-failed', '--since', 'yesterday']],
    [['retry', '--all-failed', '--since', '2026-13-01T00:00:00Z']],
    [['retry', '--all-failed', '--since', '2026-11-01']],
    [['retry', '--since', '2026-11-01T00:00:00Z', `msg_${'0'.repeat(24)}`]],
    [['retry', '--all-failed', '--since', '2026-11-01T00:00:00Z', `msg_${'0'.repeat(24)}`]],
  ])('%j', async (args) => {
    const { code, stdout, stderr } = await messages(...args);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toContain('Usage:');
  });
});
