import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { ask, createDatabase, type Running, SmtpSink, type TestDatabase, until } from '@adoption-store/test-support';
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
  portal = await runPortal(database.url);
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
  const mail = {
    SMTP_URL: sink.url,
    MAIL_FROM: 'store@example.com',
    STORE_EMAIL: 'store@example.com',
    PORTAL_URL: portal.origin,
  };
  const { service, metrics } = await start({ DATABASE_URL: database.url, ...(hasServer && mail) });
  worker = service;
  const isCounted = async (line: string) =>
    (await (await fetch(metrics)).text()).split('\n').includes(`adoption_store_${line}`);
  return { process: service, isCounted };
}

async function askToSignUp(email: string) {
  const visitor = new Visitor(portal.origin, '2001:db8::1');
  return visitor.fillIn('/sign-up', { email });
}

const query = (text: string) => ask<Record<string, unknown>>(database.url, text);

it('nobody signs up before a worker has said that it can send mail', async () => {
  await startWorker(false);
  expect((await new Visitor(portal.origin, '2001:db8::1').get('/sign-up')).status).toBe(503);
  expect(await query('SELECT portal_url FROM deployment')).toEqual([{ portal_url: null }]);
});

it('a mail that was queued while the mail server was away arrives once it is back, and its link stands nowhere else', async () => {
  await sink.close();
  const { process, isCounted } = await startWorker();
  expect(await askToSignUp('queued@example.com')).toMatchObject({ status: 200 });
  await until(() => isCounted('account_mail_deliveries_total{kind="sign-up",outcome="postponed"} 1'));
  expect(await isCounted('account_mails_queued 1')).toBe(true);
  await sink.startAgain();
  await query(`UPDATE account_mails SET due_at = now() WHERE status = 'queued'`);
  await until(() => isCounted('account_mail_deliveries_total{kind="sign-up",outcome="sent"} 1'));
  expect(sink.received).toMatchObject([{ to: ['queued@example.com'] }]);
  const [, address = '', token = ''] = /(\S+)#([0-9A-Za-z]{43})/.exec(sink.received[0]?.body ?? '') ?? [];
  expect(address).toBe(`${portal.origin}/finish-sign-up`);
  for (const { stdout, stderr } of [process, portal.process]) {
    expect(stdout + stderr).not.toContain('queued@example.com');
    expect(stdout + stderr).not.toContain(token);
  }
  for (const table of ['account_mails', 'sign_ups', 'password_resets'])
    expect(JSON.stringify(await query(`SELECT * FROM ${table}`))).not.toContain(token);
  const person = new Visitor(portal.origin, '2001:db8::1');
  expect(await person.fillIn('/finish-sign-up', { token, password: PASSWORD })).toMatchObject({ status: 303 });
});

it('a worker without a mail server takes nothing back, says so, and leaves the mails: no link stands in its log', async () => {
  await askToSignUp('waiting@example.com');
  const { process, isCounted } = await startWorker(false);
  await until(() => isCounted('account_mails_queued 1'));
  expect(await isCounted('mail_server_missing 1')).toBe(true);
  expect(process.stdout).toContain('accounts begin with a mail, but this worker sends none');
  expect(process.stdout).not.toMatch(/#[0-9A-Za-z]{43}/);
  expect(await query(`SELECT claims FROM account_mails WHERE status = 'queued'`)).toMatchObject([{ claims: 0 }]);
  expect(await askToSignUp('other@example.com')).toMatchObject({ status: 200 });
});
