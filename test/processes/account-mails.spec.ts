import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  ask,
  createDatabase,
  type Environment,
  Running,
  SmtpSink,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';
import { runPortal, type RunningPortal } from '@adoption-store/portal/testing/portal-process';
import { PASSWORD, Visitor } from '@adoption-store/portal/testing/portal-visitor';

const LINK = /\/(?:confirm-address|reset-password)#([0-9A-Za-z]{43})/;

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

const byMail = (): Environment => ({
  SMTP_URL: sink.url,
  MAIL_FROM: 'store@example.com',
  STORE_EMAIL: 'store@example.com',
});

/** Where its metrics are. */
async function startWorker(settings: Environment): Promise<{ readonly process: Running; readonly origin: string }> {
  const process = new Running(WORKER, [], {
    ...{ DATABASE_URL: database.url, WORKER_PORT: '0', WORKER_HOST: '127.0.0.1' },
    ...settings,
  });
  worker = process;
  return { process, origin: (await process.prints(/health at (\S+)\/readyz/))[1] ?? '' };
}

/** Signs up, so that a mail is queued; the address. */
async function signUp(): Promise<string> {
  visitors += 1;
  const email = `person-${visitors}@example.com`;
  const visitor = new Visitor(portal.origin, `2001:db8:${visitors}::1`);
  await visitor.get('/sign-up');
  expect((await visitor.post('/sign-up', { email, password: PASSWORD })).status).toBe(303);
  return email;
}

const query = (text: string) => ask<Record<string, unknown>>(database.url, text);
const statuses = async () =>
  (await query('SELECT status FROM account_mails ORDER BY created_at')).map(({ status }) => status);
const countedIn = async (origin: string, line: string) =>
  (await (await fetch(`${origin}/metrics`)).text()).split('\n').includes(line);
const delivered = (outcome: string, count: number) =>
  `adoption_store_account_mail_deliveries_total{kind="proof",outcome="${outcome}"} ${count}`;

it('a mail that was queued while the mail server was away arrives once it is back, and is counted', async () => {
  await sink.close();
  const { process, origin } = await startWorker(byMail());
  const email = await signUp();
  await until(() => countedIn(origin, delivered('postponed', 1)));
  expect(await countedIn(origin, 'adoption_store_account_mails_queued 1')).toBe(true);
  await sink.startAgain();
  await query(`UPDATE account_mails SET due_at = now() WHERE status = 'queued'`);
  await until(() => sink.received.length === 1);
  const [mail] = sink.received;
  expect(mail?.to).toEqual([email]);
  await until(() => countedIn(origin, delivered('sent', 1)));
  expect(await statuses()).toEqual(['sent']);
  const token = LINK.exec(mail?.body ?? '')?.[1] ?? '';
  for (const log of [process, portal.process].map(({ stdout, stderr }) => stdout + stderr)) {
    for (const secret of [email, token]) expect(log).not.toContain(secret);
  }
  for (const table of ['account_mails', 'address_proofs', 'password_resets']) {
    expect(JSON.stringify(await query(`SELECT * FROM ${table}`))).not.toContain(token);
  }
});

it('a mail whose link has expired is dropped and counted, not sent', async () => {
  const before = sink.offered;
  await signUp();
  await query(`UPDATE account_mails SET expires_at = now() WHERE status = 'queued'`);
  const { origin } = await startWorker(byMail());
  await until(() => countedIn(origin, delivered('dropped', 1)));
  expect(sink.offered).toBe(before);
});

it('a mail waits where the worker has no mail server: its link stands in no log', async () => {
  await signUp();
  const { process, origin } = await startWorker({});
  await until(() => countedIn(origin, 'adoption_store_account_mails_queued 1'));
  expect(process.stdout).not.toMatch(LINK);
  expect(await query(`SELECT claims FROM account_mails WHERE status = 'queued'`)).toMatchObject([{ claims: 0 }]);
});
