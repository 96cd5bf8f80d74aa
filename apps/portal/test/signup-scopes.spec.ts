import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createDatabase, type TestDatabase } from '@adoption-store/test-support';
import { runPortal, type RunningPortal } from './support/portal-process.js';
import { boxesIn, PASSWORD, Visitor } from './support/portal-visitor.js';

let database: TestDatabase;
let portal: RunningPortal;
beforeAll(async () => {
  database = await createDatabase();
  portal = await runPortal(database.url, { SIGNUP_SCOPES: 'orders:read,pets:read' });
});
afterAll(async () => {
  await portal.process.stop();
  await database.drop();
});

it('who signs up has the scopes of SIGNUP_SCOPES, and is offered no others', async () => {
  const visitor = new Visitor(portal.origin, '');
  await visitor.get('/sign-up');
  await visitor.post('/sign-up', { email: 'person@example.com', password: PASSWORD });
  expect(boxesIn(await visitor.get('/keys'))).toEqual({
    offered: ['pets:read', 'orders:read'],
    checked: ['pets:read', 'orders:read'],
  });
  expect((await visitor.post('/catalogue', { name: 'Luna', categoryId: '1' })).status).toBe(403);
  expect((await visitor.get('/catalogue')).text).not.toContain('Luna');
});
