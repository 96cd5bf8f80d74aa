import { setTimeout as delay } from 'node:timers/promises';
import { type AccountId, DAY, instant, later, newAccountMailId, newMessageId } from '@adoption-store/domain';
import { type Infrastructure, openInfrastructure } from '@adoption-store/infrastructure';
import { ask, createDatabase, Running, SmtpSink, type TestDatabase, until, WORKER } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

/** Milliseconds between two messages. Each tenth comes with a mail to an account. */
const BREATH = 10;
/** Messages to queue at each step. */
const MESSAGES = 60;

let database: TestDatabase;
let store: Infrastructure;
let accountId: AccountId;
let sink: SmtpSink;
const workers: Running[] = [];

beforeAll(async () => {
  database = await createDatabase();
  store = await openInfrastructure({ databaseUrl: database.url, poolSize: 2 });
  const account = {
    email: 'writer@example.com',
    plan: { name: 'free' as const },
    scopes: undefined,
    createdAt: instant(Date.now()),
  };
  accountId = (await store.ports.accounts.open(account)).id;
  sink = await SmtpSink.open();
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop('SIGTERM')));
  await sink.close();
  await store.close();
  await database.drop();
});

describe("the mail server's password", () => {
  it('is replaced while messages and mails to accounts arrive: each is sent once, at its first attempt', async () => {
    sink.passwords = ['first'];
    const former = await startWorker('first');
    const arriving = new Arriving();
    await arriving.queued(MESSAGES);
    sink.passwords = ['first', 'second'];
    await startWorker('second');
    expect(await former.stop('SIGTERM')).toMatchObject({ code: 0 });
    await arriving.queued(MESSAGES);
    sink.passwords = ['second'];
    await arriving.queued(MESSAGES);
    await arriving.stop();
    await expectEachSentOnce(arriving);
    expect(await countOf('failures > 0')).toBe(0);
    expect(new Set(sink.logins.map(([, password]) => password))).toEqual(new Set(['first', 'second']));
  });

  it('may be switched off too early: what arrives waits, and goes out once the worker has the next one', async () => {
    sink.received.length = 0;
    sink.passwords = ['third'];
    sink.cut();
    const arriving = new Arriving();
    await arriving.queued(MESSAGES);
    await arriving.stop();
    const [refused] = workers.slice(-1);
    await until(async () => (await countOf("status = 'queued' AND failures > 0")) === arriving.count);
    expect(sink.received).toEqual([]);
    expect((await refused?.stop('SIGTERM'))?.code).toBe(0);
    // Instead of waiting for the next attempt, which is 5 to 10 s later. While no worker runs, because this ends claims.
    for (const table of TABLES) await ask(database.url, `UPDATE ${table} SET due_at = now() WHERE status = 'queued'`);
    await startWorker('third');
    await expectEachSentOnce(arriving);
    expect(refused?.stdout).toContain('"reason":"EAUTH 535"');
    for (const { stdout, stderr } of workers) expect(stdout + stderr).not.toMatch(/:(first|second|third)@/);
  });
});

const TABLES = ['messages', 'account_mails'];

/** Messages, and mails to accounts, that arrive one after the other until they are stopped. */
class Arriving {
  readonly messages: string[] = [];
  mails = 0;
  private isStopping = false;
  private readonly arriving = this.arrive();

  get count(): number {
    return this.messages.length + this.mails;
  }

  /** Waits until that many more messages are queued. */
  async queued(count: number): Promise<void> {
    const goal = this.messages.length + count;
    await until(() => this.messages.length >= goal);
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.arriving;
  }

  private async arrive(): Promise<void> {
    const { messages, accountMails, cryptography } = store.ports;
    while (!this.isStopping) {
      const id = newMessageId(cryptography);
      const createdAt = instant(Date.now());
      await messages.add({ id, accountId, text: 'Is Luna still there?', createdAt });
      this.messages.push(id);
      if (this.messages.length % 10 === 0) {
        const mail = { id: newAccountMailId(cryptography), accountId, kind: 'proof' as const, createdAt };
        const page = 'http://localhost:3001/confirm-address';
        expect(await accountMails.add({ ...mail, page, expiresAt: later(createdAt, DAY) }, 1_000)).toBe(true);
        this.mails += 1;
      }
      await delay(BREATH);
    }
  }
}

async function startWorker(password: string): Promise<Running> {
  const worker = new Running(WORKER, [], {
    ...{ DATABASE_URL: database.url, WORKER_PORT: '0', WORKER_HOST: '127.0.0.1' },
    ...{ SMTP_URL: sink.url.replace('//', `//store:${password}@`) },
    ...{ MAIL_FROM: 'api@example.com', STORE_EMAIL: 'store@example.com' },
  });
  workers.push(worker);
  await worker.prints(/^The worker is ready/m);
  return worker;
}

/** The number of messages and mails in the database for which the condition is true. */
async function countOf(condition: string): Promise<number> {
  const counts = TABLES.map((table) => `SELECT count(*) AS count FROM ${table} WHERE ${condition}`);
  const [{ count } = { count: 0 }] = await ask<{ count: number }>(
    database.url,
    `SELECT sum(count)::integer AS count FROM (${counts.join(' UNION ALL ')}) AS counts`,
  );
  return count;
}

async function expectEachSentOnce(arriving: Arriving): Promise<void> {
  const begun = performance.now();
  await until(async () => (await countOf("status = 'queued'")) === 0);
  const took = Math.round(performance.now() - begun);
  expect(await countOf("status <> 'sent'")).toBe(0);
  const messages = sink.received.map((mail) => mail.header('X-Message-Id')).filter((id) => id !== undefined);
  expect(messages.sort()).toEqual([...arriving.messages].sort());
  expect(sink.received.length - messages.length).toBe(arriving.mails);
  console.info(
    `${messages.length} messages and ${arriving.mails} mails to accounts, each sent once, the last ${took} ms after the end`,
  );
}
