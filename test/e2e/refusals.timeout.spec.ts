import { beforeAll, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { expectError } from '../support/expectations.js';
import { rawHead } from '../support/pets-client.js';
import { type RawResponse, sendRaw } from '../support/raw-http.js';

const REQUEST_ID = 'the-client_s-own-id';
const POST = 'POST /v1/pets HTTP/1.1';

/** Requests that never end, except one that must be answered at once. */
const UNFINISHED = {
  'the request line': () => 'GET /v1/pe',
  'the headers': () => 'GET /v1/pets HTTP/1.1\r\nHost: localhost\r\nX-Unfinis',
  'the headers, before the empty line': () => rawHead(api, 'GET /v1/pets HTTP/1.1').slice(0, -2),
  'a body of known length': () => `${unfinishedHead('Content-Length: 30')}{"name":`,
  'a body of which nothing comes': () => unfinishedHead('Content-Length: 30'),
  'a body in chunks, between two': () => `${unfinishedHead('Transfer-Encoding: chunked')}8\r\n{"name":\r\n`,
  'a body in chunks, inside one': () => `${unfinishedHead('Transfer-Encoding: chunked')}1e\r\n{"name":`,
} as const;

interface Outcome {
  readonly responses: readonly RawResponse[];
  readonly milliseconds: number;
}

const api = useApi();
let outcomes: ReadonlyMap<string, Promise<Outcome>>;

beforeAll(async () => {
  // All run at once, so that the suite takes as long as one of them.
  outcomes = new Map(Object.entries(UNFINISHED).map(([what, bytes]) => [what, outcomeOf(bytes())]));
});

function unfinishedHead(header: string): string {
  return rawHead(api, POST, ['Content-Type: application/json', `X-Request-Id: ${REQUEST_ID}`, header]);
}

async function outcomeOf(bytes: string): Promise<Outcome> {
  const startedAt = performance.now();
  const responses = await sendRaw(api, bytes, Infinity);
  return { responses, milliseconds: performance.now() - startedAt };
}

describe('a request that is left unfinished is answered 408 request_timeout within 10 seconds:', () => {
  it.each(Object.keys(UNFINISHED))('%s', async (what) => {
    const outcome = await outcomes.get(what);
    expect(outcome?.responses).toHaveLength(1);
    expectError(outcome?.responses[0], 408, 'request_timeout');
    expect(outcome?.responses[0]?.headers['connection']).toBe('close');
    expect(outcome?.milliseconds).toBeLessThan(10_000);
  });

  it("and keeps the client's own X-Request-Id where that had come", async () => {
    const outcome = await outcomes.get('a body of known length');
    expect(outcome?.responses[0]?.headers['x-request-id']).toBe(REQUEST_ID);
  });

  it('and stores nothing of it', async () => {
    await Promise.all(outcomes.values());
    expect(await api.application.listAnimals.execute()).toEqual({ items: [], next: undefined });
  });
});
