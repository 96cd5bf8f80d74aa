import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, freePort, type Running, type TestDatabase, until } from '@adoption-store/test-support';
import { sendRaw } from '@adoption-store/api/testing/raw-http';
import { mailSignUp, runPortal, type RunningPortal } from '@adoption-store/portal/testing/portal-process';
import { PASSWORD, Visitor } from '@adoption-store/portal/testing/portal-visitor';
import { OtlpCollector, type ReceivedSpan } from '../support/otlp.js';
import { HAPROXY, Proxy } from '../support/proxy.js';
import { issueKey, limitsOf, startApi as start, startWorker } from '../support/services.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const [SERVER, CLIENT, CONSUMER] = [2, 3, 5];
const REQUESTS = 'http_server_request_duration_seconds';

let database: TestDatabase;
let collector: OtlpCollector;
let portal: RunningPortal;
let keys = 0;

beforeAll(async () => {
  [database, collector] = await Promise.all([createDatabase(), OtlpCollector.open()]);
  portal = await runPortal(database.url, { TRUST_PROXY: '127.0.0.1' });
  await fetch(portal.origin);
});

afterAll(async () => {
  await portal.process.stop();
  collector.close();
  await database.drop();
});

const newKey = (plan: readonly string[]) =>
  issueKey({ DATABASE_URL: database.url }, `${(keys += 1)}@example.com`, plan);

/** Traces go to the collector. Spans are only sent at the end, so received spans prove the flush. */
async function startApi(endpoint = collector.url) {
  const { service: api, ...addresses } = await start({
    DATABASE_URL: database.url,
    ADDRESS_LIMIT: '2',
    LAME_DUCK: '0s',
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_BSP_SCHEDULE_DELAY: '3600000',
  });
  return { api, ...addresses };
}

/** The value of each series, by name and labels as written. */
async function scrape(address: string): Promise<ReadonlyMap<string, number>> {
  const lines = (await (await fetch(address)).text())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

const labels = (method: string, route: string, status: number) =>
  `{method="${method}",route="${route}",status="${status}"}`;

describe('the API', () => {
  let api: Running;
  let origin: string;
  let metrics: string;
  let worker: Awaited<ReturnType<typeof startWorker>>;
  let told: ReadonlyMap<string, number>;
  let key: string;
  const count = (operation: string, isDeprecated = false) =>
    told.get(`adoption_store_operation_requests_total{operation="${operation}",deprecated="${isDeprecated}"}`);
  const ofRoute = (method: string, route: string, status: number) =>
    told.get(`${REQUESTS}_count${labels(method, route, status)}`);
  const spanOf = (name: string): ReceivedSpan => {
    const [span, ...others] = collector.spans.filter((each) => each.name === name);
    if (span === undefined || others.length > 0) throw new Error(`not one span is called ${name}`);
    return span;
  };
  const children = ({ spanId, traceId }: ReceivedSpan) =>
    collector.spans.filter((each) => each.parentSpanId === spanId && each.traceId === traceId);

  // All the traffic, which each test below reads.
  beforeAll(async () => {
    ({ api, origin, metrics } = await startApi());
    const limited = await newKey(limitsOf(3, 100));
    key = await newKey(['--plan', 'pro']);
    const call = async (bearer: string, path: string, init: Omit<RequestInit, 'headers'> = {}, more = {}) => {
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...more };
      return (await fetch(origin + path, { ...init, headers })).status;
    };
    const traced = { traceparent: `00-${TRACE}-${SPAN}-01` };
    const post = (body: string) => ({ method: 'POST', body });
    for (const path of ['/v1/categories', '/v1/categories', '/v1/store/orders/9', '/v1/store/orders/9'])
      await call(limited, path);
    expect(await call(key, '/v1/pets?status=available&limit=7', {}, traced)).toBe(200);
    expect(await call(key, '/v1/pets', post('{"name":"canary-name","categoryId":77123456789}'))).toBe(201);
    expect(await call(key, '/v1/pets/99123456789')).toBe(404);
    expect(await call(key, '/v1/pets/9', { method: 'HEAD' })).toBe(404);
    expect(await call(key, `/v1/${key}`)).toBe(404);
    expect(await call(key, '/v1/messages', post('{"message":"canary-message"}'), traced)).toBe(202);
    // Like every request that is refused before authentication, they count against their address.
    await sendRaw({ host: '127.0.0.1', port: Number(new URL(origin).port) }, 'NONSENSE\r\n\r\n');
    for (let times = 0; times < 3; times += 1) await fetch(`${origin}/v1/nowhere`);
    await until(async () => (await scrape(metrics)).get(`${REQUESTS}_count${labels('GET', '*', 429)}`) === 2);
    told = await scrape(metrics);
    worker = await startWorker({ DATABASE_URL: database.url, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await worker.service.prints(/"message":"msg_/);
  });
  afterAll(async () => {
    await Promise.all([api.stop(), worker.service.stop()]);
  });

  describe('reports to Prometheus, on its own port', () => {
    it('the number of requests of each route, their statuses and durations', () => {
      const counts = [
        ['GET', '/v1/categories', 200, 2],
        ['GET', '/v1/store/orders/{orderId}', 404, 1],
        ['GET', '/v1/store/orders/{orderId}', 429, 1],
        ['GET', '*', 401, 1],
        ['GET', '*', 429, 2],
        ['_OTHER', '*', 400, 1],
      ] as const;
      expect(counts.map(([method, route, status]) => ofRoute(method, route, status))).toEqual(
        counts.map(([, , , expected]) => expected),
      );
      expect(told.get(`${REQUESTS}_bucket${labels('GET', '/v1/categories', 200).replace('{', '{le="10",')}`)).toBe(2);
      expect(told.get(`${REQUESTS}_sum${labels('GET', '/v1/categories', 200)}`)).toBeGreaterThan(0);
      const decisions = (outcome: string, plan: string) =>
        told.get(`adoption_store_limit_decisions_total{outcome="${outcome}",plan="${plan}"}`);
      expect([decisions('admitted', 'enterprise'), decisions('rate_limited', 'enterprise')]).toEqual([3, 1]);
      expect([decisions('admitted', 'none'), decisions('rate_limited', 'none')]).toEqual([2, 2]);
    });

    it('the requests that used each operation, and when a deprecated one ends', () => {
      expect([count('getPet', true), count('createPet'), count('createCategory')]).toEqual([2, 1, 0]);
      const sunset = told.get('adoption_store_operation_sunset_timestamp_seconds{operation="getPet"}');
      expect(sunset).toBe(Date.UTC(2030, 11, 5) / 1_000);
    });

    it('the state of its database, its limits and its process', async () => {
      expect(told.get('dependency_up{dependency="postgresql"}')).toBe(1);
      expect(told.has('dependency_up{dependency="redis"}')).toBe(false);
      expect(told.get('adoption_store_limit_fallbacks_total')).toBe(0);
      expect(told.get('db_client_connection_max')).toBe(10);
      expect(told.get('db_client_connection_pending_requests')).toBe(0);
      expect(told.get('db_client_connection_given_up')).toBe(0);
      // The process asks each second whether the database answers.
      await until(async () => (await scrape(metrics)).get('db_client_connection_count{state="used"}') === 0);
    });

    it('only as many series as routes, whatever strangers send', async () => {
      for (const method of ['PROPFIND', 'MKCOL', 'COPY', 'LOCK'])
        for (const path of ['/a', '/b?c', `/v1/pets/${method}`]) await fetch(origin + path, { method });
      await until(async () =>
        [...(await scrape(metrics)).keys()].some((series) => /method="_OTHER".*429/.test(series)),
      );
      const others = [...(await scrape(metrics)).keys()].filter((series) => /_count\{.*method="_OTHER"/.test(series));
      // One for 400 above, one for 429, and one for 401 if a minute begins meanwhile.
      expect(others.length).toBeLessThanOrEqual(3);
      for (const series of others) expect(series).toContain('route="*"');
    });

    it('and not on the port that clients reach', async () => {
      expect((await fetch(`${origin}/metrics`)).status).toBeGreaterThanOrEqual(400);
      expect((await fetch(metrics.replace('/metrics', '/v1/pets'))).status).toBe(404);
    });
  });

  it.each(['grafana/dashboards/adoption-store.json', 'prometheus/alerts.yml'])(
    'and the worker, the portal and the proxy have every metric that docker/%s names',
    async (file) => {
      const text = readFileSync(join(__dirname, '../../docker', file), 'utf8');
      const pattern = /\b(?:adoption_store|clock|db_client|dependency|haproxy|http_server|nodejs|process)_\w+/g;
      const named = [...new Set(Array.from(text.matchAll(pattern), ([name]) => name))];
      expect(named.length).toBeGreaterThan(5);
      const nobody = `127.0.0.1:${await freePort()}`;
      const proxy =
        HAPROXY === undefined
          ? undefined
          : await Proxy.start({ API_1: new URL(origin).host, API_2: nobody, PORTAL: nobody });
      const addresses = [metrics, worker.metrics, portal.metrics, ...(proxy ? [proxy.metrics] : [])];
      const pages = await Promise.all(addresses.map(scrape));
      await proxy?.stop();
      const there = new Set(pages.flatMap((page) => [...page.keys()].map((series) => series.split('{')[0])));
      const asked = named.filter((name) => proxy !== undefined || !name.startsWith('haproxy_'));
      expect(asked.filter((name) => !there.has(name))).toEqual([]);
    },
  );

  describe('exports with OTEL_EXPORTER_OTLP_ENDPOINT, once it has ended,', () => {
    beforeAll(async () => {
      await Promise.all([api.stop(), worker.service.stop()]);
    });

    it('a request as a span of its client’s trace, below the client’s span', () => {
      expect(spanOf('GET /v1/pets')).toMatchObject({
        service: 'adoption-store-api',
        traceId: TRACE,
        parentSpanId: SPAN,
        kind: SERVER,
        attributes: {
          'http.request.method': 'GET',
          'http.route': '/v1/pets',
          'http.response.status_code': 200,
          'url.scheme': 'http',
          'adoption_store.key_id': '2',
        },
      });
    });

    it('its queries as child spans', () => {
      const name: unknown = expect.stringContaining('INSERT INTO animals');
      const attributes: unknown = expect.objectContaining({ 'db.system.name': 'postgresql', 'db.query.text': name });
      const query = { kind: CLIENT, name: 'animals add', attributes };
      expect(children(spanOf('POST /v1/pets'))).toContainEqual(expect.objectContaining(query));
    });

    it('the delivery of a message in the trace that queued it, in another process', () => {
      const queued = spanOf('POST /v1/messages');
      expect(queued.traceId).toBe(TRACE);
      const attributes = { 'messaging.message.id': expect.stringMatching(/^msg_/), 'adoption_store.attempt': 1 };
      const delivery = {
        service: 'adoption-store-worker',
        traceId: TRACE,
        parentSpanId: queued.spanId,
        kind: CONSUMER,
      };
      expect(spanOf('deliver message')).toMatchObject({ ...delivery, attributes });
    });

    it('no key, body, value or query', () => {
      expect(collector.spans.length).toBeGreaterThan(5);
      expect(collector.raw).not.toMatch(/aas_live|canary|77123456789|99123456789|limit=7/);
    });
  });

  it('is delayed by an unreachable collector neither in requests nor at the end', async () => {
    const { api: other, origin: at } = await startApi(`http://127.0.0.1:${await freePort()}`);
    expect((await fetch(`${at}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
    expect(await other.stop('SIGTERM')).toMatchObject({ code: 0 });
  });
});

describe('the portal tells Prometheus, on a port of its own', () => {
  const page = async () => (await fetch(portal.metrics)).text();
  const told = (line: string) => until(async () => (await page()).split('\n').includes(line), { what: line });
  const requests = (method: string, route: string, status: number, count: number) =>
    `adoption_store_portal_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"} ${count}`;

  it('how people sign in, which forms it refuses, and each route’s requests by method and status', async () => {
    const visitor = new Visitor(portal.origin, '2001:db8::1');
    const email = 'person@example.com';
    await visitor.fillIn('/finish-sign-up', { token: await mailSignUp(database.url, email), password: PASSWORD });
    const stranger = new Visitor(portal.origin, '2001:db8:1::1');
    await stranger.get('/sign-in');
    for (let attempt = 0; attempt < 12; attempt += 1) await stranger.post('/sign-in', { email, password: 'a guess' });
    await stranger.post('/sign-in', { email, password: PASSWORD, _csrf: 'forged' });
    await visitor.get('/account');
    await visitor.post('/sign-out');
    await visitor.get('/sign-in');
    await visitor.post('/sign-in', { email, password: PASSWORD });
    for (let times = 0; times < 2; times += 1) await fetch(`${portal.origin}/livez`);
    await told('adoption_store_portal_sign_ins_total{outcome="succeeded"} 1');
    await told('adoption_store_portal_sign_ins_total{outcome="wrong_password"} 10');
    await told('adoption_store_portal_sign_ins_total{outcome="throttled"} 2');
    await told('adoption_store_portal_refused_forms_total{reason="throttled"} 2');
    await told('adoption_store_portal_refused_forms_total{reason="forged_or_old"} 1');
    await told(requests('GET', '/livez', 200, 2));
    await told(requests('POST', '/sign-in', 422, 10));
  });
});
