import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ApiOptions } from '@adoption-store/api';
import { finalize, type Observable } from 'rxjs';
import { useApi } from '../support/api.js';
import { sendRaw } from '../support/raw-http.js';

/** The responses that a Fastify plugin and a Nest interceptor have seen. */
const seen = { sent: [] as number[], responded: [] as number[], intercepted: 0 };

class CountingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      finalize(() => {
        seen.intercepted += 1;
      }),
    );
  }
}

const configure: ApiOptions['configure'] = (api) => {
  const fastify = api.getHttpAdapter().getInstance();
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    seen.sent.push(reply.statusCode);
    done();
  });
  fastify.addHook('onResponse', (_request, reply, done) => {
    seen.responded.push(reply.statusCode);
    done();
  });
  api.useGlobalInterceptors(new CountingInterceptor());
};

const api = useApi({ configure }, { addressLimit: 1_000 });

beforeEach(() => {
  Object.assign(seen, { sent: [], responded: [], intercepted: 0 });
});

const lines = (...all: readonly string[]) => `${all.join('\r\n')}\r\n\r\n`;
const LUNA = '{"name":"Luna","categoryId":1}';
const CHUNKED = 'Transfer-Encoding: chunked';
const JSON_TYPE = 'Content-Type: application/json';
const own = () => ['Host: a', `Authorization: Bearer ${api.key}`];
const post = (body: string) =>
  lines('POST /v1/pets HTTP/1.1', ...own(), JSON_TYPE, `Content-Length: ${body.length}`) + body;

/** [request bytes, expected status, whether a handler is reached] */
const ANSWERS: Readonly<Record<string, readonly [bytes: () => string, status: number, isHandled: boolean]>> = {
  'a list': [() => lines('GET /v1/pets HTTP/1.1', ...own()), 200, true],
  'a head': [() => lines('HEAD /v1/rate_limit HTTP/1.1', ...own(), 'Connection: close'), 200, true],
  'a new animal': [() => post(LUNA), 201, true],
  'an animal that is not there': [() => lines('GET /v1/pets/404 HTTP/1.1', ...own()), 404, true],
  'the methods of a path': [() => lines('OPTIONS /v1/pets HTTP/1.1', ...own()), 204, true],
  'an unknown path': [() => lines('GET /v1/cats HTTP/1.1', ...own()), 404, true],
  'a path that no router takes': [() => lines('GET /v1/%zz HTTP/1.1', ...own()), 400, true],
  'another method': [() => lines('DELETE /v1/pets HTTP/1.1', ...own()), 405, true],
  'a field that is not valid': [() => post('{"name":1}'), 400, true],
  'a body that is no JSON': [() => post('{'), 400, true],
  'a body that is too large': [
    () => lines('POST /v1/pets HTTP/1.1', ...own(), JSON_TYPE, 'Content-Length: 70000', 'Connection: close'),
    413,
    true,
  ],
  'a bad chunk': [() => `${lines('POST /v1/pets HTTP/1.1', ...own(), JSON_TYPE, CHUNKED)}zz\r\n`, 400, true],
  'no key': [() => lines('GET /v1/pets HTTP/1.1', 'Host: a'), 401, false],
  'no Host': [() => lines('GET /v1/pets HTTP/1.1'), 400, false],
  'a fragment': [() => lines('GET /v1/pets#x HTTP/1.1', ...own()), 400, false],
  'an odd Expect': [() => lines('GET /v1/pets HTTP/1.1', ...own(), 'Expect: x'), 417, false],
  'a page beside the API': [() => lines('GET /docs HTTP/1.1', 'Host: a'), 200, false],
  'a page beside the API, refused': [() => lines('GET /docs#x HTTP/1.1', 'Host: a'), 400, false],
  'an exhausted minute': [
    () => lines('GET /v1/pets HTTP/1.1', 'Host: a', `Authorization: Bearer ${exhausted}`),
    429,
    false,
  ],
};

let exhausted = '';
beforeEach(async () => {
  if (exhausted !== '') return;
  ({ key: exhausted } = await api.openKey('free'));
  const { account } = await api.application.authenticate.execute(exhausted);
  expect(account.plan.name).toBe('free');
});

describe('a plugin and an interceptor that are added tomorrow see', () => {
  afterEach(() => {
    expect(seen.responded).toEqual(seen.sent);
  });

  it.each(Object.entries(ANSWERS))('%s', async (name, [bytes, status, isHandled]) => {
    if (name === 'an exhausted minute') await exhaust();
    const [answer] = await sendRaw(api, bytes(), name === 'a head' ? Infinity : 1);
    expect(answer?.status).toBe(status);
    expect(seen.sent).toEqual([status]);
    expect(seen.intercepted).toBe(isHandled ? 1 : 0);
  });
});

async function exhaust(): Promise<void> {
  const ask = lines('GET /v1/pets HTTP/1.1', 'Host: a', `Authorization: Bearer ${exhausted}`);
  for (let status: number | undefined = 200; status === 200;)
    [{ status } = { status: undefined }] = await sendRaw(api, ask);
  Object.assign(seen, { sent: [], responded: [], intercepted: 0 });
}
