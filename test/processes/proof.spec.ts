import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { API, createDatabase, Running, SmtpSink, type TestDatabase, until, WORKER } from '@adoption-store/test-support';
import { runPortal, type RunningPortal } from '@adoption-store/portal/testing/portal-process';
import { PASSWORD, Visitor } from '@adoption-store/portal/testing/portal-visitor';

let database: TestDatabase;
let mail: SmtpSink;
let portal: RunningPortal;
let worker: Running;
let replicas: readonly Running[] = [];
let origins: readonly string[] = [];

beforeAll(async () => {
  database = await createDatabase();
  mail = await SmtpSink.open();
  portal = await runPortal(database.url, { SMTP_URL: mail.url });
  worker = new Running(WORKER, [], {
    ...{ DATABASE_URL: database.url, WORKER_PORT: '0', WORKER_HOST: '127.0.0.1' },
    ...{ SMTP_URL: mail.url, MAIL_FROM: 'store@example.com', STORE_EMAIL: 'store@example.com' },
  });
  const settings = { DATABASE_URL: database.url, HOST: '127.0.0.1', PORT: '0' };
  replicas = [new Running(API, [], settings), new Running(API, [], settings)];
  origins = await Promise.all(replicas.map(async (each) => (await each.prints(/Address {2}(\S+)\/v1/))[1] ?? ''));
});

afterAll(async () => {
  await Promise.all([portal.process, worker, ...replicas].map((process) => process.stop()));
  await mail.close();
  await database.drop();
});

async function answersTo(key: string): Promise<number[]> {
  const headers = { authorization: `Bearer ${key}` };
  return Promise.all(origins.map(async (origin) => (await fetch(`${origin}/v1/pets`, { headers })).status));
}

it('the first reset by mail revokes the earlier keys, on every replica within a second', async () => {
  const email = 'owner@example.com';
  const stranger = new Visitor(portal.origin, '2001:db8::1');
  await stranger.get('/sign-up');
  await stranger.post('/sign-up', { email, password: PASSWORD });
  const key = await stranger.issueKey();
  expect(await answersTo(key)).toEqual([200, 200]);

  const owner = new Visitor(portal.origin, '2001:db8:1::1');
  await owner.get('/forgotten-password');
  await owner.post('/forgotten-password', { email });
  const link = /\/reset-password#(\S+)/;
  await until(() => mail.received.some(({ body }) => link.test(body)));
  const [, token = ''] = mail.received.map(({ body }) => link.exec(body)).find((found) => found !== null) ?? [];
  await owner.get('/reset-password');
  expect((await owner.post('/reset-password', { token, password: 'the owner’s own pass phrase' })).status).toBe(303);

  const deadline = Date.now() + 1_000;
  while ((await answersTo(key)).some((status) => status === 200) && Date.now() < deadline) await delay(50);
  expect(await answersTo(key)).toEqual([401, 401]);
});

it('a new address is proven by the link that is mailed to it, and the former one is told by mail', async () => {
  const [former, email] = ['former@example.com', 'present@example.com'];
  const person = new Visitor(portal.origin, '2001:db8:2::1');
  await person.get('/sign-up');
  await person.post('/sign-up', { email: former, password: PASSWORD });
  await person.get('/account');
  await person.post('/account/address', { email, password: PASSWORD });
  const mailTo = (address: string, text: RegExp) =>
    mail.received
      .map(({ to, body }) => (to.includes(address) ? text.exec(body) : null))
      .find((found) => found !== null);
  const link = /\/confirm-new-address#(\S+)/;
  await until(() => mailTo(email, link) !== undefined);
  expect(mailTo(former, link)).toBeUndefined();
  await person.get('/confirm-new-address');
  const { status } = await person.post('/confirm-new-address', { token: mailTo(email, link)?.[1] ?? '' });
  expect(status).toBe(303);
  expect((await person.get('/account')).text).toContain(email);
  await until(() => mailTo(former, /e-mail address of your account .* was changed/) !== undefined);
  for (const log of [portal.process, worker].map(({ stdout, stderr }) => stdout + stderr))
    for (const secret of [former, email]) expect(log).not.toContain(secret);
});
