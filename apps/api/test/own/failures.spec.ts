import { type Application, createApplication, DomainError, kernelErrors, plan } from '@adoption-store/domain';
import { inMemoryPorts, testPolicy } from '@adoption-store/domain/testing';
import { describe, expect, it, jest } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { createApi } from '../../src/create-api.js';
import { startApi } from '../support/api.js';
import { get, post, rawHead, send } from '../support/client.js';
import { expectError, expectHeadError, expectLimitHeaders } from '../support/expectations.js';
import { type RawResponse, sendUndescribed } from '../support/raw-http.js';

const SECRET = 'password=hunter2';
const LUNA = '{"name":"Luna","categoryId":1}';
const PAGE = 'https://shop.example';

type Ports = Parameters<typeof createApplication>[0];

/** The response of an application that is broken by `ports`. */
async function answerOf(
  breakIt: (ports: Ports) => Partial<Ports>,
  path: string,
  method = 'GET',
  body?: string,
): Promise<RawResponse> {
  const ports = inMemoryPorts();
  const key = await issueKey(createApplication(ports, testPolicy()));
  const application = createApplication({ ...ports, ...breakIt(ports) }, testPolicy());
  const isReady = () => true;
  const api = await createApi({ application, clock: ports.clock, isReady });
  await api.listen(0, '127.0.0.1');
  try {
    const port = Number(new URL(await api.getUrl()).port);
    const served = { host: '127.0.0.1', port, origin: '', key };
    return await send(served, method, path, body, { 'X-Request-Id': 'my-own' });
  } finally {
    await api.close();
  }
}

async function issueKey({ openAccount, issueKey: issue }: Application): Promise<string> {
  const account = await openAccount.execute({ email: 'a@example.com', plan: plan('business') });
  return (await issue.execute({ accountId: account.id })).text;
}

function brokenAnimals(error: unknown): () => Partial<Ports> {
  const fail = jest.fn<() => Promise<never>>().mockRejectedValue(error);
  return () => ({ animals: { add: fail, findById: fail, list: fail, listByName: fail, change: fail, withdraw: fail } });
}

function expectInternalError(response: RawResponse): void {
  expectError(response, 500, 'internal_error');
  expect(response.headers['x-request-id']).toBe('my-own');
  expect(JSON.stringify(response)).not.toMatch(/hunter2|password|\bat \w+|node_modules|\.ts\b|\.js\b/);
}

describe('a defect is answered 500 internal_error without internals', () => {
  it('if authentication fails, which admits no request', async () => {
    const findByHash = () => Promise.reject(new Error(SECRET));
    const breakIt = ({ apiKeys }: Ports) => ({ apiKeys: Object.assign(apiKeys, { findByHash }) });
    expectInternalError(await answerOf(breakIt, '/v1/pets'));
  });

  it.each([
    ['carries a status of its own', Object.assign(new Error(SECRET), { statusCode: 418, status: 418, code: 'TEAPOT' })],
    ['has a response like an exception of Nest', Object.assign(new Error(SECRET), { getStatus: () => 404 })],
    ['is a text', SECRET],
    ['is undefined', undefined],
  ])('if the thrown value %s', async (_case, error) => {
    expectInternalError(await answerOf(brokenAnimals(error), '/v1/pets'));
  });
});

describe('a response that can’t be sent is 500 internal_error, with its id and limits, and without internals', () => {
  type Break = (fastify: FastifyInstance) => unknown;
  const secret = new Error(SECRET);
  const failToSend: Break = (fastify) =>
    fastify.addHook('onSend', (_request, _reply, _payload, done) => {
      done(secret);
    });
  const breaks: Readonly<Record<string, Break>> = {
    'a hook refuses to send it': failToSend,
    'a hook fails before the guards, and one while it is sent': (fastify) =>
      failToSend(fastify.addHook('onRequest', () => Promise.reject(secret))),
    'a header of it isn’t valid': (fastify) =>
      fastify.addHook('onSend', (_request, reply, _payload, done) => {
        reply.header('x-inside', `${SECRET}\n`);
        done();
      }),
  };

  it.each(Object.entries(breaks))('if %s', async (_case, breakIt) => {
    const logged = jest.fn();
    const broken = await startApi({
      configure: (nest) => {
        const fastify = nest.getHttpAdapter().getInstance();
        jest.spyOn(fastify.log, 'error').mockImplementation(logged);
        breakIt(fastify);
      },
    });
    try {
      const headers = { 'X-Request-Id': 'my-own', Origin: PAGE };
      for (const [method, path, body] of [
        ['GET', '/v1/pets'],
        ['POST', '/v1/pets', LUNA],
        ['GET', '/v1/pets#x'],
        ['GET', '/docs'],
      ] as const) {
        const response = await send(broken, method, path, body, headers);
        expectInternalError(response);
        expect(response.headers['access-control-allow-origin']).toBe(path === '/docs' ? undefined : '*');
        const told = { request_id: 'my-own', route: expect.any(String) };
        expect(logged).toHaveBeenLastCalledWith(told, 'the response could not be sent');
        logged.mockClear();
      }
      expectHeadError(await send(broken, 'HEAD', '/v1/pets', undefined, headers), 500);
      // If Node was to send the 204, it sends no body any more.
      const [methods] = await sendUndescribed(broken, rawHead(broken, 'OPTIONS /v1/pets HTTP/1.1'));
      expect(methods?.status).toBe(500);
      expectLimitHeaders(methods);
    } finally {
      await broken.close();
    }
  });

  it('if an address of a link isn’t valid, and what was added is there', async () => {
    const broken = await startApi({ publicUrl: 'https://api.example.com\n' });
    try {
      expectInternalError(await post(broken, '/v1/pets', LUNA, { 'X-Request-Id': 'my-own' }));
      expect((await get(broken, '/v1/pets')).body).toContain('Luna');
    } finally {
      await broken.close();
    }
  });

  it('nor can requests be counted', async () => {
    const count = () => Promise.reject(secret);
    const breakIt = ({ requests }: Ports) => ({ requests: Object.assign(requests, { count }) });
    for (const path of ['/v1/pets', '/v1/pets#x']) expectInternalError(await answerOf(breakIt, path));
  });
});

describe('while the database is down the answer is 503 service_unavailable with Retry-After', () => {
  const fail = () => Promise.reject(new DomainError(kernelErrors.service_unavailable, 'the service is unavailable'));

  function expectUnavailable(response: RawResponse): void {
    expectError(response, 503, 'service_unavailable');
    expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(response.headers).not.toHaveProperty('www-authenticate');
  }

  it('to a read and a write', async () => {
    const breakIt = ({ animals }: Ports) => ({ animals: Object.assign(animals, { list: fail, add: fail }) });
    expectUnavailable(await answerOf(breakIt, '/v1/pets'));
    expectUnavailable(await answerOf(breakIt, '/v1/pets', 'POST', LUNA));
  });

  it.each(['/v1/pets?limit=0', '/cats'])('to a key that can’t be looked up, at %s too', async (path) => {
    const breakIt = ({ apiKeys }: Ports) => ({ apiKeys: Object.assign(apiKeys, { findByHash: fail }) });
    expectUnavailable(await answerOf(breakIt, path));
  });
});
