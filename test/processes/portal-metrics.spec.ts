import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, PORTAL, run, type TestDatabase, until } from '@adoption-store/test-support';
import { runPortal, type RunningPortal } from '@adoption-store/portal/testing/portal-process';
import { PASSWORD, Visitor } from '@adoption-store/portal/testing/portal-visitor';

let database: TestDatabase;
let portal: RunningPortal;
beforeAll(async () => {
  database = await createDatabase();
  portal = await runPortal(database.url, { TRUST_PROXY: '127.0.0.1' });
});
afterAll(async () => {
  await portal.process.stop();
  await database.drop();
});

const lines = async () => (await (await fetch(portal.metrics)).text()).split('\n');
const told = (line: string) => until(async () => (await lines()).includes(line));
const requests = (method: string, route: string, status: number, count: number) =>
  `adoption_store_portal_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"} ${count}`;

describe('the portal tells Prometheus, on a port of its own', () => {
  it('how people sign in, and which forms it refuses', async () => {
    const visitor = new Visitor(portal.origin, '2001:db8::1');
    const email = 'person@example.com';
    await visitor.get('/sign-up');
    await visitor.post('/sign-up', { email, password: PASSWORD });
    const stranger = new Visitor(portal.origin, '2001:db8:1::1');
    await stranger.get('/sign-in');
    for (let attempt = 0; attempt < 12; attempt += 1) await stranger.post('/sign-in', { email, password: 'a guess' });
    await stranger.post('/sign-in', { email, password: PASSWORD, _csrf: 'forged' });
    await visitor.get('/account');
    await visitor.post('/sign-out');
    await visitor.get('/sign-in');
    await visitor.post('/sign-in', { email, password: PASSWORD });
    await told('adoption_store_portal_sign_ins_total{outcome="succeeded"} 1');
    await told('adoption_store_portal_sign_ins_total{outcome="wrong_password"} 10');
    await told('adoption_store_portal_sign_ins_total{outcome="throttled"} 2');
    await told('adoption_store_portal_refused_forms_total{reason="throttled"} 2');
    await told('adoption_store_portal_refused_forms_total{reason="forged_or_old"} 1');
  });

  it('how many requests each route has answered, by method and status', async () => {
    await fetch(`${portal.origin}/livez`);
    await fetch(`${portal.origin}/livez`);
    await told(requests('GET', '/livez', 200, 2));
    await told(requests('POST', '/sign-in', 422, 10));
  });

  it('as many series as there are routes, whatever strangers send', async () => {
    for (const method of ['PROPFIND', 'MKCOL', 'COPY', 'LOCK']) {
      for (const path of ['/a', '/b?c', `/keys/${method}`]) await fetch(portal.origin + path, { method });
    }
    await until(async () => (await lines()).some((line) => line.includes('method="_OTHER"')));
    const series = (await lines()).filter((line) => /_count\{.*method="_OTHER"/.test(line));
    expect(series).toHaveLength(1);
    const page = (await lines()).join('\n');
    for (const sent of ['PROPFIND', 'person@example.com', '/b?c', '2001:db8']) expect(page).not.toContain(`"${sent}`);
  });

  it('and nobody on the port that people reach', async () => {
    expect((await fetch(`${portal.origin}/metrics`)).status).toBe(404);
  });

  it('or says in one sentence that the port is taken, and does not start', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const settings = { DATABASE_URL: database.url, METRICS_HOST: '127.0.0.1', PORTAL_METRICS_PORT: String(port) };
    expect(await run(PORTAL, [], settings)).toMatchObject({
      code: 1,
      stderr: `port ${port} of 127.0.0.1 is in use by another program; set PORTAL_METRICS_PORT to another one\n`,
    });
    taken.close();
  });
});
