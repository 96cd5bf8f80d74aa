import { Agent } from 'node:http';
import { createDatabase, type Running, type TestDatabase } from '@adoption-store/test-support';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { runPortal, type RunningPortal } from '@adoption-store/portal/testing/portal-process';
import { PASSWORD, Visitor } from '@adoption-store/portal/testing/portal-visitor';
import { Balancer } from '../support/balancer.js';
import { isSuccess, Load, slowest } from '../support/load.js';

const [OLD, NEW] = ['the former secret of 32 characters', 'the newer secret of 32 characters'];
/** Milliseconds between two pages of a person. */
const BREATH = 30;
/** Pages to wait for at each step. */
const PAGES = 50;

let database: TestDatabase;
let balancer: Balancer;
let load: Load;
let portal: RunningPortal;
let visitors = 0;
let forms = 0;
const started: Running[] = [];
const people: Person[] = [];

beforeAll(async () => {
  database = await createDatabase();
  balancer = await Balancer.open();
  portal = await startPortal(OLD);
  load = newLoad();
});
afterAll(async () => {
  await load.stop();
  balancer.close();
  await Promise.all(started.map((process) => process.stop()));
  await database.drop();
});

it('the secret of the portals is replaced in three steps, and no page, sign-in or form fails', async () => {
  const earliest = await signUp();
  people.push(earliest);
  await load.answered(PAGES);
  await replacePortal(`${OLD},${NEW}`);
  await replacePortal(`${NEW},${OLD}`);
  await load.stop();
  expect(load.answers.filter((answer) => !isSuccess(answer))).toEqual([]);
  console.info(
    `${load.answers.length} pages, none failed, the slowest took ${slowest(load.answers)} ms; ` +
      `${people.length} people signed in meanwhile and sent ${forms} forms, none was refused`,
  );

  // Removing the former secret ends only the sessions that it signed.
  load = newLoad();
  people.length = 0;
  const latest = await signUp();
  people.push(latest);
  await replacePortal(NEW);
  await load.stop();
  expect(load.answers.filter((answer) => !isSuccess(answer))).toEqual([]);
  expect((await latest.visitor.get('/account')).status).toBe(200);
  const ended = await earliest.visitor.get('/account');
  expect({ status: ended.status, to: ended.headers.get('location') }).toEqual({ status: 303, to: '/sign-in' });
  await earliest.visitor.get('/sign-in');
  const { email } = earliest;
  expect((await earliest.visitor.post('/sign-in', { email, password: PASSWORD })).status).toBe(303);
  expect((await earliest.visitor.get('/account')).status).toBe(200);
});

interface Person {
  readonly visitor: Visitor;
  readonly email: string;
}

function newLoad(): Load {
  return new Load(balancer.origin, { key: '', revoked: '' }, [].values(), new Agent({ keepAlive: true }), BREATH);
}

async function startPortal(secrets: string): Promise<RunningPortal> {
  const settings = { PORTAL_SECRET: secrets, TRUST_PROXY: '127.0.0.1', LAME_DUCK: '1s', LOG_LEVEL: 'warn' };
  const next = await runPortal(database.url, settings);
  started.push(next.process);
  await balancer.add(next.origin);
  return next;
}

/** Replaces the portal. People use the former and the next at the same time. */
async function replacePortal(secrets: string): Promise<void> {
  const former = portal;
  portal = await startPortal(secrets);
  people.push(await signUp());
  for (let round = 0; round < 2; round += 1) for (const { visitor } of people) await sendForm(visitor);
  await load.answered(PAGES);
  expect(await former.process.stop('SIGTERM')).toMatchObject({ code: 0 });
  balancer.remove(former.origin);
  for (const { visitor } of people) await sendForm(visitor);
}

/** Somebody who signs up, gets a page with a form, and then keeps getting pages. */
async function signUp(): Promise<Person> {
  const email = `person-${(visitors += 1)}@example.com`;
  const visitor = new Visitor(balancer.origin, `2001:db8:${visitors}::1`);
  await visitor.get('/sign-up');
  expect((await visitor.post('/sign-up', { email, password: PASSWORD })).status).toBe(303);
  expect((await visitor.get('/catalogue')).status).toBe(200);
  load.visit('/account', [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '));
  return { visitor, email };
}

/** Sends the form of a page from before, then gets it from whichever portal comes next. */
async function sendForm(visitor: Visitor): Promise<void> {
  expect((await visitor.post('/catalogue', { name: 'Luna', categoryId: '1' })).status).toBe(303);
  expect((await visitor.get('/catalogue')).status).toBe(200);
  forms += 1;
}
