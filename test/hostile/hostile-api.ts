import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { API, createDatabase, KEYS, run, Running, type TestDatabase } from '@adoption-store/test-support';
import {
  type ErrorCode,
  errorStatuses,
  expectError,
  expectHeadError,
  expectLimitHeaders,
} from '@adoption-store/api/testing/expectations';
import { CUT, exchange, type Part, type RawResponse } from '@adoption-store/api/testing/raw-http';
import { defectsIn } from '../support/defects.js';

/** The expected response: an error's code, a success's status, or the status of an error to HEAD. */
type Expected = ErrorCode | number;

/** The parts to send, each as one packet, and every expected response. `{key}` stands for a valid key. */
export type Case = readonly [name: string, expected: Expected | readonly Expected[], ...parts: readonly Part[]];

const HOST = 'Host: pets.example';
const KEY = 'Authorization: Bearer {key}';
const JSON_TYPE = 'Content-Type: application/json';

/** A request line and headers, byte for byte. */
export function lines(...all: readonly string[]): string {
  return `${all.join('\r\n')}\r\n\r\n`;
}

/** A GET with Host and key. Only the target and the further headers are unusual. */
export function get(target: string, ...headers: readonly string[]): string {
  return ask('GET', target, ...headers);
}

export function ask(method: string, target: string, ...headers: readonly string[]): string {
  return lines(`${method} ${target} HTTP/1.1`, HOST, KEY, ...headers);
}

/** A POST of JSON with a known length, unless the headers say otherwise. */
export function post(target: string, body: string | Buffer, ...headers: readonly string[]): Buffer {
  const bytes = Buffer.from(body);
  const framing = headers.length > 0 ? headers : [JSON_TYPE, `Content-Length: ${bytes.length}`];
  return Buffer.concat([Buffer.from(ask('POST', target, ...framing), 'latin1'), bytes]);
}

/** The head of a POST with these framing headers, followed by these bytes. */
export function framed(headers: readonly string[], bytes: string, target = '/v1/pets'): string {
  return `${ask('POST', target, JSON_TYPE, ...headers)}${bytes}`;
}

/** Runs each case against a separate process that must keep running and log no defect. */
export function describeHostile(groups: Readonly<Record<string, readonly Case[]>>): void {
  const target = { host: '127.0.0.1', port: 0 };
  let database: TestDatabase;
  let service: Running;
  let key: string;

  beforeAll(async () => {
    database = await createDatabase();
    const settings = { DATABASE_URL: database.url, HOST: target.host, PORT: '0' };
    service = new Running(API, [], { ...settings, LOG_LEVEL: 'error', ADDRESS_LIMIT: '1000000' });
    const [, address = ''] = await service.prints(/Address {2}(\S+)\/v1/);
    target.port = Number(new URL(address).port);
    const plan = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000'];
    key = (await run(KEYS, ['create', '--email', 'hostile@example.com', ...plan], settings)).stdout.trim();
  });

  afterAll(async () => {
    await service.stop();
    await database.drop();
    expect(defectsIn(service.stdout)).toEqual([]);
  });

  const withKey = (part: Part): Part =>
    part === CUT ? CUT : Buffer.from(part.toString('latin1').replaceAll('{key}', key), 'latin1');

  describe.each(Object.entries(groups))('%s', (_group, cases) => {
    it.each(cases.map((each) => [each[0], each] as const))('%s', async (_name, [, expected, ...parts]) => {
      const outcomes = [expected].flat();
      const responses = await exchange(target, outcomes.length, parts.map(withKey));
      expect(responses.map(outcomeOf)).toEqual(outcomes);
      responses.forEach(expectContract);
      const [good] = await exchange(target, 1, [withKey(get('/v1/pets?limit=1'))]);
      expect(good).toMatchObject({ status: 200 });
      expect(service.child).toMatchObject({ exitCode: null, signalCode: null });
    });
  });
}

function outcomeOf({ status, body }: RawResponse): Expected {
  return (/^\{"code":"(\w+)"/.exec(body)?.[1] as ErrorCode | undefined) ?? status;
}

function expectContract(response: RawResponse): void {
  const { status, headers, body } = response;
  const outcome = outcomeOf(response);
  if (status < 400) {
    expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expectLimitHeaders(response);
  } else if (typeof outcome === 'number') {
    expectHeadError(response, status);
  } else {
    expectError(response, errorStatuses[outcome], outcome);
  }
  if (status === 405 || status === 204) expect(headers).toHaveProperty('allow');
  if (status === 401) expect(headers).toHaveProperty('www-authenticate');
  if (status === 204) expect(body).toBe('');
}
