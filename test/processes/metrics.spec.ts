import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  API,
  createDatabase,
  KEYS,
  run,
  Running,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';
import { runPortal, type RunningPortal } from '@adoption-store/portal/testing/portal-process';
import { metricsIn } from '../support/watched-metrics.js';
import { sendRaw } from '@adoption-store/api/testing/raw-http';

let database: TestDatabase;
let api: Running;
let worker: Running;
let portal: RunningPortal;
let origin: string;
let metrics: string;
let workerMetrics: string;

beforeAll(async () => {
  database = await createDatabase();
  api = new Running(API, [], { DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', ADDRESS_LIMIT: '2' });
  origin = (await api.prints(/Address {2}(\S+)\/v1/))[1] ?? '';
  metrics = (await api.prints(/Metrics {2}(\S+)/))[1] ?? '';
  worker = new Running(WORKER, [], { DATABASE_URL: database.url, WORKER_PORT: '0' });
  workerMetrics = `${(await worker.prints(/health at (\S+)\/readyz/))[1] ?? ''}/metrics`;
  portal = await runPortal(database.url);
  await fetch(portal.origin);
});

afterAll(async () => {
  await Promise.all([api.stop(), worker.stop(), portal.process.stop()]);
  await database.drop();
});

/** The value of each series, by name and labels as written. */
async function scrape(address: string): Promise<ReadonlyMap<string, number>> {
  const lines = (await (await fetch(address)).text())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

const REQUESTS = 'http_server_request_duration_seconds';
const labels = (method: string, route: string, status: number) =>
  `{method="${method}",route="${route}",status="${status}"}`;

describe('the API reports to Prometheus, on its own port', () => {
  it('the number of requests of each route, their statuses and durations', async () => {
    const plan = ['--plan', 'enterprise', '--per-minute', '3', '--per-day', '100'];
    const created = await run(KEYS, ['create', '--email', 'a@example.com', ...plan], { DATABASE_URL: database.url });
    const headers = { authorization: `Bearer ${created.stdout.trim()}` };
    for (const path of ['/v1/pets', '/v1/pets', '/v1/pets/9', '/v1/pets/9']) await fetch(origin + path, { headers });
    // It counts against its address, like every request refused before authentication.
    await sendRaw({ host: '127.0.0.1', port: Number(new URL(origin).port) }, 'NONSENSE\r\n\r\n');
    for (let times = 0; times < 3; times += 1) await fetch(`${origin}/v1/nowhere`);
    const counts = [
      ['GET', '/v1/pets', 200, 2],
      ['GET', '/v1/pets/{petId}', 404, 1],
      ['GET', '/v1/pets/{petId}', 429, 1],
      ['GET', '*', 401, 1],
      ['GET', '*', 429, 2],
      ['_OTHER', '*', 400, 1],
    ] as const;
    await until(async () => (await scrape(metrics)).has(`${REQUESTS}_count${labels('_OTHER', '*', 400)}`));
    const told = await scrape(metrics);
    expect(
      counts.map(([method, route, status]) => told.get(`${REQUESTS}_count${labels(method, route, status)}`)),
    ).toEqual(counts.map(([, , , count]) => count));
    const slowest = told.get(`${REQUESTS}_bucket${labels('GET', '/v1/pets', 200).replace('{', '{le="10",')}`);
    expect(slowest).toBe(2);
    expect(told.get(`${REQUESTS}_sum${labels('GET', '/v1/pets', 200)}`)).toBeGreaterThan(0);
    expect(told.get('adoption_store_limit_decisions_total{outcome="admitted",plan="enterprise"}')).toBe(3);
    expect(told.get('adoption_store_limit_decisions_total{outcome="rate_limited",plan="enterprise"}')).toBe(1);
    expect(told.get('adoption_store_limit_decisions_total{outcome="admitted",plan="none"}')).toBe(2);
    expect(told.get('adoption_store_limit_decisions_total{outcome="rate_limited",plan="none"}')).toBe(2);
  });

  it('the requests that used each operation, and when a deprecated one ends', async () => {
    const created = await run(KEYS, ['create', '--email', 'b@example.com'], { DATABASE_URL: database.url });
    const headers = { authorization: `Bearer ${created.stdout.trim()}` };
    const count = (told: ReadonlyMap<string, number>, operation: string, isDeprecated = false) =>
      told.get(`adoption_store_operation_requests_total{operation="${operation}",deprecated="${isDeprecated}"}`);
    const before = await scrape(metrics);
    const send = (path: string, init: RequestInit = { headers }) => fetch(origin + path, init);
    await send('/v1/pets/9');
    await send('/v1/pets/9', { headers, method: 'HEAD' });
    await send('/v1/pets/9', {});
    await send('/v1/pets', { headers, method: 'PROPFIND' });
    await send('/v1/nowhere');
    await send('/v1/categories');
    await until(async () => count(await scrape(metrics), 'listCategories') === 1);
    const after = await scrape(metrics);
    const added = (operation: string, isDeprecated?: boolean) =>
      (count(after, operation, isDeprecated) ?? 0) - (count(before, operation, isDeprecated) ?? 0);
    expect(added('getPet', true)).toBe(2);
    expect(added('listPets')).toBe(0);
    expect(added('none')).toBe(2);
    expect(count(after, 'createCategory')).toBe(0);
    expect(after.get('adoption_store_operation_sunset_timestamp_seconds{operation="getPet"}')).toBe(
      Date.UTC(2030, 11, 5) / 1_000,
    );
  });

  it('the state of its database, its limits and its process', async () => {
    const told = await scrape(metrics);
    expect(told.get('dependency_up{dependency="postgresql"}')).toBe(1);
    expect(told.has('dependency_up{dependency="redis"}')).toBe(false);
    expect(told.get('adoption_store_limit_fallbacks_total')).toBe(0);
    expect(told.get('db_client_connection_max')).toBe(10);
    expect(told.get('db_client_connection_pending_requests')).toBe(0);
    expect(told.get('db_client_connection_count{state="idle"}')).toBeGreaterThan(0);
    // The process asks four times a second whether the database answers.
    await until(async () => (await scrape(metrics)).get('db_client_connection_count{state="used"}') === 0);
    expect(told.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
    expect(told.get('nodejs_eventloop_time_seconds_total{state="active"}')).toBeGreaterThan(0);
    expect(told.get('nodejs_eventloop_time_seconds_total{state="idle"}')).toBeGreaterThan(0);
    expect(told.get('process_resident_memory_bytes')).toBeGreaterThan(1e7);
  });

  it('only as many series as routes, whatever strangers send', async () => {
    const requestSeries = async () =>
      [...(await scrape(metrics)).keys()].filter((series) => series.startsWith('http_server_request_')).length;
    const before = await requestSeries();
    for (const method of ['PROPFIND', 'MKCOL', 'COPY', 'LOCK']) {
      for (const path of ['/a', '/b?c', `/v1/pets/${method}`]) await fetch(origin + path, { method });
    }
    // Only `_OTHER` has new series: one for 429, and one for 401 if a minute begins meanwhile. Each has 13 buckets and
    // three more.
    const added = (await requestSeries()) - before;
    expect(added).toBeGreaterThanOrEqual(16);
    expect(added).toBeLessThanOrEqual(32);
  });

  it('and not on the port that clients reach', async () => {
    expect((await fetch(`${origin}/metrics`)).status).toBeGreaterThanOrEqual(400);
    expect((await fetch(metrics.replace('/metrics', '/v1/pets'))).status).toBe(404);
  });

  it('or does not start, and says that the port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const settings = { DATABASE_URL: database.url, PORT: '0', METRICS_HOST: '127.0.0.1', METRICS_PORT: String(port) };
    expect(await run(API, [], settings)).toMatchObject({
      code: 1,
      stderr: `port ${port} of 127.0.0.1 is in use by another program; set METRICS_PORT to another one\n`,
    });
    taken.close();
  });
});

describe('every metric exists that is named by', () => {
  it.each(['grafana/dashboards/adoption-store.json', 'prometheus/alerts.yml'])('docker/%s', async (file) => {
    const told = await Promise.all([metrics, workerMetrics, portal.metrics].map(scrape));
    const names = new Set(told.flatMap((each) => [...each.keys()].map((series) => series.split('{')[0])));
    // Those of HAProxy are asked of it in proxy.spec.ts.
    const asked = metricsIn(file).filter((name) => !name.startsWith('haproxy_'));
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.filter((name) => !names.has(name))).toEqual([]);
  });
});
