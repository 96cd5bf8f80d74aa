import { describe, expect } from '@jest/globals';
import type { AdoptionStore } from '../../src/index.js';
import { type Case, cats, CATS_VALUE, play, unexpected } from './cases.js';
import { bytes, raw, reset, type Step } from './hostile-server.js';

const NETWORK = { code: 'network_error', kind: 'network', status: 0 };
const TEXT = '{"id":1,"name":"Cats"}';
const create = (store: AdoptionStore) => store.createPet({ name: 'Luna', categoryId: 1n });

const headers: Step = (response) => {
  response.writeHead(200, { 'Content-Length': TEXT.length }).flushHeaders();
};
const half: Step = (response, exchange) => {
  void headers(response, exchange);
  response.write(TEXT.slice(0, 10));
};
const http = (lines: string, body = TEXT) => raw(`HTTP/1.1 200 OK\r\n${lines}\r\n${body}`);

/** Ways in which no complete response comes. */
const BROKEN: readonly [server: string, step: Step][] = [
  ['reset before the headers', reset()],
  ['reset after the headers', reset(headers)],
  ['reset in the body', reset(half)],
  ['closed before the headers', raw('')],
  ['closed in the status line', raw('HTTP/1.1 20')],
  ['closed in the headers', raw('HTTP/1.1 200 OK\r\nContent-Le')],
  ['closed in the body', http(`Content-Length: ${TEXT.length}\r\n`, TEXT.slice(0, 10))],
  ['closed in a chunk', http('Transfer-Encoding: chunked\r\n', 'ff\r\n{"id"')],
  ['closed before the last chunk', http('Transfer-Encoding: chunked\r\n', '5\r\n{"id"\r\n')],
  ['a chunk of no size', http('Transfer-Encoding: chunked\r\n', 'zz\r\n')],
  ['a Content-Length of -1', http('Content-Length: -1\r\n')],
  ['a Content-Length of text', http('Content-Length: many\r\n')],
  ['a Content-Length that is too long', http('Content-Length: 1000000000000000\r\n')],
  ['two Content-Lengths', http('Content-Length: 5\r\nContent-Length: 22\r\n')],
  ['a header of 1 MiB', http(`X-Long: ${'x'.repeat(2 ** 20)}\r\n`)],
  ['100,000 headers', http('X-A: b\r\n'.repeat(100_000))],
  ['a header with a NUL', http('X-A: \0\r\n')],
  ['SSH', raw('SSH-2.0-OpenSSH_9.9\r\n')],
  ['HTTP/2', raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')],
  ['HTML without HTTP', raw('<html>')],
  ['JSON without HTTP', raw(TEXT)],
  ['a TLS alert', raw(new Uint8Array([21, 3, 3, 0, 2, 2, 40]))],
  ['gzip that is none', bytes(200, TEXT, { 'Content-Encoding': 'gzip' })],
  ['407, which fetch takes for a proxy’s', bytes(407, TEXT)],
];

describe('a connection that breaks', () => {
  play([
    ...BROKEN.map(([server, step]): Case => ({ server, steps: [step], ends: NETWORK, requests: 5 })),
    ...BROKEN.slice(0, 4).map(([server, step]): Case => ({
      server: `${server}; then 200`,
      steps: [step, cats],
      ends: CATS_VALUE,
      requests: 2,
    })),
    ...BROKEN.slice(0, 3).map(([server, step]): Case => ({
      server: `${server}, to a POST`,
      steps: [step],
      call: create,
      ends: { ...NETWORK, idempotencyKey: expect.stringMatching(/^[\w-]{36}$/) },
      requests: 5,
    })),
    {
      server: 'reset before the headers, to a PATCH with If-Match',
      steps: [reset()],
      call: (store) => store.changePet(1n, { name: 'Milo' }, { ifMatch: '"1"' }),
      ends: NETWORK,
      requests: 1,
    },
    { server: 'refused', steps: [cats], isGone: true, ends: NETWORK, requests: 0 },
  ]);
});

describe('an odd response', () => {
  play([
    { server: 'a header without a name', steps: [http(': b\r\n')], ends: CATS_VALUE, requests: 1 },
    { server: 'a body that ends with the connection', steps: [http('')], ends: CATS_VALUE, requests: 1 },
    {
      server: '103 before the answer',
      steps: [
        raw(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n${TEXT}`),
      ],
      ends: CATS_VALUE,
      requests: 1,
    },
    {
      server: 'a status without words',
      steps: [raw(`HTTP/1.1 200\r\nContent-Length: 22\r\n\r\n${TEXT}`)],
      ends: CATS_VALUE,
      requests: 1,
    },
    { server: 'HTTP/1.0', steps: [raw(`HTTP/1.0 200 OK\r\n\r\n${TEXT}`)], ends: CATS_VALUE, requests: 1 },
    {
      server: 'a Content-Length of 5 before 22 bytes',
      steps: [http('Content-Length: 5\r\n')],
      ends: unexpected(200),
      requests: 1,
    },
    { server: 'a Content-Length of 0', steps: [http('Content-Length: 0\r\n')], ends: unexpected(200), requests: 1 },
    {
      server: 'an unknown Content-Encoding',
      steps: [bytes(200, TEXT, { 'Content-Encoding': 'rot13' })],
      ends: CATS_VALUE,
      requests: 1,
    },
    {
      server: 'a second answer that nobody asked for',
      steps: [
        raw(`HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n${TEXT}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}`),
      ],
      ends: CATS_VALUE,
      requests: 1,
    },
  ]);
});
