import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keyIn, Visitor } from '@adoption-store/portal/testing/portal-visitor';
import {
  ask,
  KEYS,
  MIGRATE,
  nameOf,
  openAnotherPostgres,
  run,
  Running,
  START,
  until,
} from '@adoption-store/test-support';
import { ROLES, tell } from '../support/operator-scripts.js';

describe('roles.sql', () => {
  let database: Awaited<ReturnType<typeof openAnotherPostgres>>;

  // The roles of a server belong to all of its databases.
  beforeEach(async () => {
    database = await openAnotherPostgres('store');
  });

  afterEach(() => database.close());

  it('gives the services a role that can do every operation and change no table', async () => {
    await runAsAdministrator();
    expect(await run(MIGRATE, [], { DATABASE_URL: as('store_owner') })).toMatchObject({ code: 0, stderr: '' });
    const services = new Running(START, [], {
      DATABASE_URL: as('store_a'),
      PORT: '0',
      PORTAL_PORT: '0',
      WORKER_PORT: '0',
      LOG_LEVEL: 'warn',
      CATEGORIES: 'strict',
      WEBHOOK_ALLOW: '127.0.0.0/8',
    });
    try {
      await services.prints(/^The worker is ready/m);
      const account = ['--email', 'dev@example.com', '--plan', 'business'];
      const created = await run(KEYS, ['create', ...account], { DATABASE_URL: as('store_a') });
      expect(created).toMatchObject({ code: 0, stderr: '' });
      await callEveryOperation(addressIn(services, /Address {2}(\S+)\/v1/), created.stdout.trim());
      await useThePortal(addressIn(services, /Portal {3}(\S+)/));
    } finally {
      expect(await services.stop()).toMatchObject({ code: 0, stderr: '' });
    }
    expect(services.stdout + services.stderr).not.toMatch(/permission denied|must be owner/);
    await expectNoChangeOfTables();
  });

  it('lets a service start only once the schema is up to date, and names the role that must migrate', async () => {
    await runAsAdministrator();
    const { code, stderr } = await run(MIGRATE, [], { DATABASE_URL: as('store_a') });
    expect(code).toBe(1);
    expect(stderr).toMatch(/its schema is not up to date, .* run migrate as the role that owns it\n$/);
    expect(stderr).not.toContain(' at ');
    await run(MIGRATE, [], { DATABASE_URL: as('store_owner') });
    expect(await run(MIGRATE, [], { DATABASE_URL: as('store_b') })).toMatchObject({ code: 0, stderr: '' });
  });

  /** Runs the script as a role that isn't a superuser, and enables the logins. */
  async function runAsAdministrator(): Promise<void> {
    const create = 'CREATE ROLE store_admin LOGIN CREATEROLE';
    await ask(database.url, `${create}; ALTER DATABASE ${nameOf(database)} OWNER TO store_admin`);
    await tell(as('store_admin'), ROLES);
    await tell(as('store_admin'), 'ALTER ROLE store_owner LOGIN; ALTER ROLE store_a LOGIN; ALTER ROLE store_b LOGIN');
  }

  function as(role: string): string {
    return database.url.replace('user=postgres', `user=${role}`);
  }

  function addressIn({ stderr }: Running, pattern: RegExp): string {
    return pattern.exec(stderr)?.[1] ?? '';
  }

  async function callEveryOperation(origin: string, key: string): Promise<void> {
    const call = async (method: string, path: string, body?: object) => {
      const authorization = `Bearer ${key}`;
      // A response with a secret isn't stored.
      const repeatable = path === '/webhooks' ? {} : { 'idempotency-key': randomUUID() };
      const sent = body && {
        headers: { authorization, 'content-type': 'application/json', ...repeatable },
        body: JSON.stringify(body),
      };
      const response = await fetch(`${origin}/v1${path}`, { method, headers: { authorization }, ...sent });
      const text = await response.text();
      expect({ call: `${method} ${path}`, text, isOk: response.ok }).toMatchObject({ isOk: true });
      return JSON.parse(text || '{}') as { readonly id: string | number; readonly status: string };
    };
    const { id: webhook } = await call('POST', '/webhooks', { url: 'http://127.0.0.1:9/' });
    await call('PUT', '/categories/1', { name: 'Cats' });
    const { id: petId } = await call('POST', '/pets', { name: 'Luna', categoryId: 1 });
    const { id: categoryId } = await call('POST', '/categories', { name: 'Dogs' });
    for (const path of ['/categories', `/categories/${categoryId}`]) await call('GET', path);
    await call('PATCH', `/pets/${petId}`, { categoryId });
    await call('DELETE', '/categories/1');
    for (const path of ['/pets', `/pets?id=${petId}`, `/pets/${petId}`, '/rate_limit']) await call('GET', path);
    const { id: cancelled } = await call('POST', '/store/orders', { petId });
    await call('POST', `/store/orders/${cancelled}/cancel`);
    const { id: completed } = await call('POST', '/store/orders', { petId });
    await call('POST', `/store/orders/${completed}/complete`);
    for (const path of ['/store/orders', `/store/orders/${completed}`]) await call('GET', path);
    await call('DELETE', `/pets/${petId}`);
    const { id } = await call('POST', '/messages', { message: 'Is Luna there?' });
    await until(async () => (await call('GET', `/messages/${id}`)).status === 'sent');
    await call('GET', '/events');
    const one = `/webhooks/${webhook}`;
    const { id: ping } = await call('POST', `${one}/ping`);
    for (const path of ['/webhooks', one, `${one}/deliveries`]) await call('GET', path);
    await call('POST', `${one}/deliveries/${ping}/retry`);
    await call('POST', `${one}/recover`, { since: '2026-11-21T12:00:00Z' });
    await call('POST', `${one}/rotate-secret`);
    await call('PATCH', one, { description: 'Shop' });
    await call('DELETE', one);
  }

  async function useThePortal(origin: string): Promise<void> {
    const visitor = new Visitor(origin, '');
    const password = 'a fairly long pass phrase';
    await visitor.get('/sign-up');
    expect((await visitor.post('/sign-up', { email: 'person@example.com', password })).status).toBe(303);
    await visitor.get('/keys');
    expect(keyIn(await visitor.post('/keys', { scopes: 'pets:read' }))).not.toBe('');
    for (const path of ['/account', '/usage', '/catalogue', '/categories'])
      expect((await visitor.get(path)).status).toBe(200);
    await visitor.get('/account');
    expect((await visitor.post('/sign-out')).status).toBe(303);
  }

  async function expectNoChangeOfTables(): Promise<void> {
    const statements = [
      'CREATE TABLE more ()',
      'CREATE FUNCTION more() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$',
      'ALTER TABLE animals ADD COLUMN more text',
      'ALTER TABLE api_keys DISABLE TRIGGER api_keys_changed',
      'TRUNCATE sessions',
      'DROP POLICY secrets_of_writers ON secrets',
      'SET ROLE store_owner',
    ];
    for (const statement of statements) {
      await expect(tell(as('store_a'), statement)).rejects.toThrow(/permission denied|must be owner/);
    }
  }
});
