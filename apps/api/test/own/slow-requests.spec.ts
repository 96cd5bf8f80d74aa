import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { rawHead } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import { parseResponses, type RawResponse } from '../support/raw-http.js';

const GET = 'GET /v1/pets HTTP/1.1';

const api = useApi();

const REQUEST_ID = 'the-client_s-own-id';
/** Clients of each kind that go on sending a byte now and then; one more sends nothing. */
const SLOW_CLIENTS = 5;
const TRICKLE_MS = 200;

const unfinished = (header: string) =>
  rawHead(api, 'POST /v1/pets HTTP/1.1', ['Content-Type: application/json', `X-Request-Id: ${REQUEST_ID}`, header]);

/** Requests that never end, and what a slow client sends then. */
const UNFINISHED = {
  'the request line': [() => 'GET /v1/pe', 't'],
  'the headers': [() => `${GET}\r\nHost: localhost\r\nX-Unfinis`, 'h'],
  'the headers, before the empty line': [() => rawHead(api, GET).slice(0, -2), 'x'],
  'a body of known length': [() => `${unfinished('Content-Length: 5000')}{"name":`, ' '],
  'a body in chunks, between two': [() => `${unfinished('Transfer-Encoding: chunked')}8\r\n{"name":\r\n`, '0'],
  'a body in chunks, inside one': [() => `${unfinished('Transfer-Encoding: chunked')}1388\r\n{"name":`, ' '],
} as const;

let outcomes: ReadonlyMap<string, readonly (readonly RawResponse[])[]>;

/** Sends the bytes, and then one byte after the other, until the server closes. */
async function responsesTo(bytes: string, trickle: string): Promise<readonly RawResponse[]> {
  const socket = connect(api.port, api.host);
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk)).on('error', () => undefined);
  socket.write(bytes);
  const timer = setInterval(() => trickle !== '' && socket.writable && socket.write(trickle), TRICKLE_MS);
  await new Promise((resolve) => socket.on('close', resolve));
  clearInterval(timer);
  return parseResponses(Buffer.concat(received));
}

describe('a request that is left unfinished, or sent byte by byte, is answered 408 request_timeout:', () => {
  // All run at once, so that the suite takes as long as one of them. Without a time limit it would never end.
  beforeAll(async () => {
    const ends = Object.entries(UNFINISHED).map(async ([what, [bytes, trickle]]) => {
      const clients = Array.from({ length: SLOW_CLIENTS }, () => responsesTo(bytes(), trickle));
      return [what, await Promise.all([responsesTo(bytes(), ''), ...clients])] as const;
    });
    outcomes = new Map(await Promise.all(ends));
  });

  it.each(Object.keys(UNFINISHED))('%s', (what) => {
    expect(outcomes.get(what)).toHaveLength(SLOW_CLIENTS + 1);
    for (const responses of outcomes.get(what) ?? []) {
      expect(responses).toHaveLength(1);
      expectError(responses[0], 408, 'request_timeout');
      expect(responses[0]?.headers['connection']).toBe('close');
    }
  });

  it("and keeps the client's own X-Request-Id where that had come", () => {
    expect(outcomes.get('a body of known length')?.[0]?.[0]?.headers['x-request-id']).toBe(REQUEST_ID);
  });
});
