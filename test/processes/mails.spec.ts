import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type AccountId, instant, later, type Message, MINUTE, newMessageId, PLANS } from '@adoption-store/domain';
import { type Infrastructure, openInfrastructure } from '@adoption-store/infrastructure';
import {
  ACCOUNTS,
  ask,
  createDatabase,
  MESSAGES,
  run,
  Running,
  SmtpSink,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';
import { runPortal, type RunningPortal } from '@adoption-store/portal/testing/portal-process';
import { PASSWORD, Visitor } from '@adoption-store/portal/testing/portal-visitor';

const TEXT = 'for the store alone';
const NOVEMBER = instant(Date.UTC(2026, 10, 1));

let database: TestDatabase;
let sink: SmtpSink;
let portal: RunningPortal;
let worker: Running | undefined;
let visitors = 0;

beforeAll(async () => {
  database = await createDatabase();
  sink = await SmtpSink.open();
  portal = await runPortal(database.url, { SMTP_URL: sink.url });
});
afterEach(async () => {
  await worker?.stop('SIGTERM');
  worker = undefined;
});
afterAll(async () => {
  await portal.process.stop();
  await sink.close();
  await database.drop();
});

/** Starts a worker, which sends mails only with a mail server. `origin` is the address of its metrics. */
async function startWorker(hasServer = true): Promise<{ readonly process: Running; readonly origin: string }> {
  const mail = { SMTP_URL: sink.url, MAIL_FROM: 'store@example.com', STORE_EMAIL: 'store@example.com' };
  const settings = { DATABASE_URL: database.url, WORKER_PORT: '0', WORKER_HOST: '127.0.0.1' };
  const process = new Running(WORKER, [], { ...settings, ...(hasServer && mail) });
  worker = process;
  return { process, origin: (await process.prints(/health at (\S+)\/readyz/))[1] ?? '' };
}

const newVisitor = () => new Visitor(portal.origin, `2001:db8:${(visitors += 1)}::1`);

async function signUp(email: string): Promise<Visitor> {
  const visitor = newVisitor();
  await visitor.get('/sign-up');
  expect((await visitor.post('/sign-up', { email, password: PASSWORD })).status).toBe(303);
  return visitor;
}

/** The first match of the pattern in a mail to that address. */
const inMailTo = (address: string, pattern: RegExp) =>
  sink.received
    .filter(({ to }) => to.includes(address))
    .map(({ body }) => pattern.exec(body))
    .find((found) => found !== null);

async function tokenTo(address: string, page: string): Promise<string> {
  const pattern = new RegExp(`/${page}#([0-9A-Za-z]{43})`);
  await until(() => inMailTo(address, pattern) !== undefined, { what: `a mail to ${address} with ${page}` });
  return inMailTo(address, pattern)?.[1] ?? '';
}

function expectNoneIn(processes: readonly Running[], secrets: readonly string[]): void {
  for (const { stdout, stderr } of processes)
    for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
}

const query = (text: string) => ask<Record<string, unknown>>(database.url, text);
const isCounted = async (origin: string, line: string) =>
  (await (await fetch(`${origin}/metrics`)).text()).split('\n').includes(line);
const proofs = (outcome: string) => `adoption_store_account_mail_deliveries_total{kind="proof",outcome="${outcome}"} 1`;

describe('a mail of an account', () => {
  it('that was queued while the mail server was away arrives once it is back, and is counted', async () => {
    await sink.close();
    const { process, origin } = await startWorker();
    await signUp('queued@example.com');
    await until(() => isCounted(origin, proofs('postponed')));
    expect(await isCounted(origin, 'adoption_store_account_mails_queued 1')).toBe(true);
    await sink.startAgain();
    await query(`UPDATE account_mails SET due_at = now() WHERE status = 'queued'`);
    const token = await tokenTo('queued@example.com', 'confirm-address');
    await until(() => isCounted(origin, proofs('sent')));
    expect(await query('SELECT status FROM account_mails')).toEqual([{ status: 'sent' }]);
    expectNoneIn([process, portal.process], ['queued@example.com', token]);
    for (const table of ['account_mails', 'address_proofs', 'password_resets'])
      expect(JSON.stringify(await query(`SELECT * FROM ${table}`))).not.toContain(token);
  });

  it('whose link has expired is dropped and counted, not sent', async () => {
    const before = sink.offered;
    await signUp('late@example.com');
    await query(`UPDATE account_mails SET expires_at = now() WHERE status = 'queued'`);
    const { origin } = await startWorker();
    await until(() => isCounted(origin, proofs('dropped')));
    expect(sink.offered).toBe(before);
  });

  it('waits where the worker has no mail server: its link stands in no log', async () => {
    await signUp('waiting@example.com');
    const { process, origin } = await startWorker(false);
    await until(() => isCounted(origin, 'adoption_store_account_mails_queued 1'));
    expect(process.stdout).not.toMatch(/#[0-9A-Za-z]{43}/);
    expect(await query(`SELECT claims FROM account_mails WHERE status = 'queued'`)).toMatchObject([{ claims: 0 }]);
  });
});

describe('messages', () => {
  let store: Infrastructure;
  let accountId: AccountId;
  beforeAll(async () => {
    store = await openInfrastructure({ databaseUrl: database.url, poolSize: 2 });
    const account = { email: 'writer@example.com', plan: PLANS.free, scopes: undefined };
    accountId = (await store.ports.accounts.open({ ...account, createdAt: NOVEMBER })).id;
  });
  afterAll(() => store.close());

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
  it('retry queues failed messages again, which a worker delivers once, names the others, and then exits with 1', async () => {
    const [one, other, unknown] = [await failed(), await queued(), `msg_${'0'.repeat(24)}`];
    await store.ports.messages.markSent(other.id);
    expect(await messages('retry', other.id, one.id, unknown)).toEqual({
      code: 1,
      stdout: `message ${one.id} is queued again\n`,
      stderr: `message ${other.id} has not failed: it is sent\nno message has the id ${unknown}\n`,
    });
    const before = sink.received.length;
    await startWorker();
    await until(async () => (await statusOf(one)) === 'sent');
    expect(sink.received.slice(before).map((mail) => mail.header('X-Message-Id'))).toEqual([one.id]);
  });

  it('retry --all-failed queues those created since a time', async () => {
    const times = [later(NOVEMBER, -1), NOVEMBER, later(NOVEMBER, 1)];
    const all = [];
    for (const createdAt of times) all.push(await failed(createdAt));
    const retry = (since: string) => messages('retry', '--all-failed', '--since', since);
    expect(await retry('2026-11-01T02:00:00+02:00')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+ messages are queued again\n$/),
    });
    expect(await Promise.all(all.map(statusOf))).toEqual(['failed', 'queued', 'queued']);
    expect(await retry('2026-11-01T00:00:00Z')).toMatchObject({ code: 0, stdout: '0 messages are queued again\n' });
  });
});

it('the portal tells the commands whether addresses are proven here: their shell knows only the database', async () => {
  await signUp('plan@example.com');
  const plan = () => run(ACCOUNTS, ['plan', 'plan@example.com', 'business'], { DATABASE_URL: database.url });
  expect(await plan()).toMatchObject({ code: 1, stderr: expect.stringContaining('is unproven') });
  await portal.process.stop();
  portal = await runPortal(database.url, { SMTP_URL: '' });
  expect(await plan()).toMatchObject({ code: 0, stdout: expect.stringContaining('is on the plan business') });
  await portal.process.stop();
  portal = await runPortal(database.url, { SMTP_URL: sink.url });
  expect(await plan()).toMatchObject({ code: 1 });
});
