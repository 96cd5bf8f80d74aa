import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  ACCOUNTS,
  ask,
  createDatabase,
  run,
  type Running,
  SmtpSink,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { runPortal, type RunningPortal } from '@adoption-store/portal/testing/portal-process';
import { PASSWORD, Visitor } from '@adoption-store/portal/testing/portal-visitor';
import { startWorker as start } from '../support/services.js';

let database: TestDatabase;
let sink: SmtpSink;
let portal: RunningPortal;
let worker: Running | undefined;

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

/** Starts a worker, which sends mails only with a mail server. `isCounted` says whether its metrics have a line. */
async function startWorker(hasServer = true) {
  const mail = { SMTP_URL: sink.url, MAIL_FROM: 'store@example.com', STORE_EMAIL: 'store@example.com' };
  const { service, metrics } = await start({ DATABASE_URL: database.url, ...(hasServer && mail) });
  worker = service;
  const isCounted = async (line: string) =>
    (await (await fetch(metrics)).text()).split('\n').includes(`adoption_store_account_${line}`);
  return { process: service, isCounted };
}

async function signUp(email: string): Promise<void> {
  const visitor = new Visitor(portal.origin, '2001:db8::1');
  await visitor.get('/sign-up');
  expect((await visitor.post('/sign-up', { email, password: PASSWORD })).status).toBe(303);
}

const query = (text: string) => ask<Record<string, unknown>>(database.url, text);

it('a mail that was queued while the mail server was away arrives once it is back, and its link stands nowhere else', async () => {
  await sink.close();
  const { process, isCounted } = await startWorker();
  await signUp('queued@example.com');
  await until(() => isCounted('mail_deliveries_total{kind="proof",outcome="postponed"} 1'));
  expect(await isCounted('mails_queued 1')).toBe(true);
  await sink.startAgain();
  await query(`UPDATE account_mails SET due_at = now() WHERE status = 'queued'`);
  await until(() => isCounted('mail_deliveries_total{kind="proof",outcome="sent"} 1'));
  expect(sink.received).toMatchObject([{ to: ['queued@example.com'] }]);
  const token = /\/confirm-address#([0-9A-Za-z]{43})/.exec(sink.received[0]?.body ?? '')?.[1] ?? '';
  expect(token).not.toBe('');
  for (const { stdout, stderr } of [process, portal.process]) {
    expect(stdout + stderr).not.toContain('queued@example.com');
    expect(stdout + stderr).not.toContain(token);
  }
  for (const table of ['account_mails', 'address_proofs', 'password_resets'])
    expect(JSON.stringify(await query(`SELECT * FROM ${table}`))).not.toContain(token);
});

it('a mail waits where the worker has no mail server: its link stands in no log', async () => {
  await signUp('waiting@example.com');
  const { process, isCounted } = await startWorker(false);
  await until(() => isCounted('mails_queued 1'));
  expect(process.stdout).not.toMatch(/#[0-9A-Za-z]{43}/);
  expect(await query(`SELECT claims FROM account_mails WHERE status = 'queued'`)).toMatchObject([{ claims: 0 }]);
});

it('the portal tells the commands whether addresses are proven here: their shell knows only the database', async () => {
  await signUp('plan@example.com');
  const plan = () => run(ACCOUNTS, ['plan', 'plan@example.com', 'business'], { DATABASE_URL: database.url });
  expect(await plan()).toMatchObject({ code: 1, stderr: expect.stringContaining('is unproven') });
  await portal.process.stop();
  portal = await runPortal(database.url, { SMTP_URL: '' });
  expect(await plan()).toMatchObject({ code: 0, stdout: expect.stringContaining('is on the plan business') });
});
