import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  API,
  createDatabase,
  freePort,
  KEYS,
  run,
  Running,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';
import { OtlpCollector, type ReceivedSpan } from '../support/otlp.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const [SERVER, CLIENT, CONSUMER] = [2, 3, 5];

let database: TestDatabase;
let collector: OtlpCollector;
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  collector = await OtlpCollector.open();
  const { stdout } = await run(KEYS, ['create', '--email', 'traced@example.com'], { DATABASE_URL: database.url });
  key = stdout.trim();
});

afterAll(async () => {
  collector.close();
  await database.drop();
});

async function startApi(endpoint: string): Promise<{ api: Running; origin: string }> {
  const settings = { DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1' };
  const api = new Running(API, [], {
    ...settings,
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=collector-secret',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    // Spans are sent only at the end, so received spans prove the flush.
    OTEL_BSP_SCHEDULE_DELAY: '3600000',
    LAME_DUCK: '0s',
  });
  const [, origin = ''] = await api.prints(/Address {2}(\S+)\/v1/);
  return { api, origin };
}

describe('with OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  let children: (span: ReceivedSpan) => readonly ReceivedSpan[];
  let spanOf: (name: string) => ReceivedSpan;

  beforeAll(async () => {
    const { api, origin } = await startApi(collector.url);
    const call = async (path: string, method = 'GET', body?: string, headers = {}) => {
      const response = await fetch(origin + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body }),
      });
      return response;
    };
    const traceparent = `00-${TRACE}-${SPAN}-01`;
    expect((await call('/v1/pets?status=available&limit=7', 'GET', undefined, { traceparent })).status).toBe(200);
    expect((await call('/v1/pets', 'POST', '{"name":"canary-name","categoryId":77123456789}')).status).toBe(201);
    expect((await call('/v1/pets/99123456789')).status).toBe(404);
    expect((await call(`/v1/${key}`)).status).toBe(404);
    expect((await call('/v1/messages', 'POST', '{"message":"canary-message"}', { traceparent })).status).toBe(202);
    const worker = new Running(WORKER, [], {
      DATABASE_URL: database.url,
      WORKER_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    });
    await worker.prints(/"message":"msg_/);
    await Promise.all([api.stop(), worker.stop()]);
    spanOf = (name) => {
      const [span, ...others] = collector.spans.filter((each) => each.name === name);
      if (span === undefined || others.length > 0) throw new Error(`not one span is called ${name}`);
      return span;
    };
    children = ({ spanId, traceId }) =>
      collector.spans.filter((each) => each.parentSpanId === spanId && each.traceId === traceId);
  });

  it('a request is a span of its client’s trace, below the client’s span', () => {
    expect(spanOf('GET /v1/pets')).toMatchObject({
      service: 'adoption-store-api',
      traceId: TRACE,
      parentSpanId: SPAN,
      kind: SERVER,
      isError: false,
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/v1/pets',
        'http.response.status_code': 200,
        'url.scheme': 'http',
        'adoption_store.key_id': '1',
      },
    });
  });

  it('a request without a trace begins one; a refusal is not an error', () => {
    const span = spanOf('GET /v1/pets/{petId}');
    expect(span.traceId).toMatch(/^(?!0af7)[0-9a-f]{32}$/);
    expect(span.parentSpanId ?? '').toBe('');
    expect(span).toMatchObject({ isError: false, attributes: { 'http.response.status_code': 404 } });
    expect(spanOf('GET *').attributes).toMatchObject({ 'http.route': '*', 'http.response.status_code': 404 });
  });

  it('a request’s queries are child spans', () => {
    expect(children(spanOf('POST /v1/pets'))).toContainEqual(
      expect.objectContaining({
        kind: CLIENT,
        name: 'animals add open',
        attributes: expect.objectContaining({
          'db.system.name': 'postgresql',
          'db.query.text': expect.stringContaining('INSERT INTO animals'),
        }) as unknown,
      }),
    );
    expect(children(spanOf('GET /v1/pets')).map(({ name }) => name)).toContainEqual(
      expect.stringMatching(/^animals status/),
    );
  });

  it('the delivery of a message continues the trace that queued it, in another process', () => {
    const queued = spanOf('POST /v1/messages');
    expect(queued.traceId).toBe(TRACE);
    expect(spanOf('deliver message')).toMatchObject({
      service: 'adoption-store-worker',
      traceId: TRACE,
      parentSpanId: queued.spanId,
      kind: CONSUMER,
      attributes: { 'messaging.message.id': expect.stringMatching(/^msg_/), 'adoption_store.attempt': 1 },
    });
  });

  it('no key, body, value or query is exported', () => {
    expect(collector.spans.length).toBeGreaterThan(5);
    expect(collector.raw).not.toMatch(/aas_live|canary|77123456789|99123456789|limit=7|collector-secret/);
  });

  it('the other standard variables are honoured', () => {
    expect(collector.headers).toContainEqual(expect.objectContaining({ 'x-collector-key': 'collector-secret' }));
    expect(collector.raw).toContain('deployment.environment.name');
  });
});

it('an unreachable collector delays neither requests nor the shutdown', async () => {
  const { api, origin } = await startApi(`http://127.0.0.1:${await freePort()}`);
  const response = await fetch(`${origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
  expect(response.status).toBe(200);
  const before = performance.now();
  expect(await api.stop('SIGTERM')).toMatchObject({ code: 0 });
  expect(performance.now() - before).toBeLessThan(8_000);
});

it('without it OpenTelemetry is not loaded', async () => {
  const settings = { DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', NODE_DEBUG: 'module,esm' };
  const api = new Running(API, [], settings);
  await api.prints(/Address/);
  await until(() => api.stderr.includes('prom-client'));
  expect(api.stderr).not.toMatch(/open-telemetry|@opentelemetry\/(?!api)/);
  await api.stop();
});
