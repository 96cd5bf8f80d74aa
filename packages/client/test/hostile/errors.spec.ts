import { describe, expect } from '@jest/globals';
import type { AdoptionStore } from '../../src/index.js';
import { type Case, cats, CATS_VALUE, KEY, play, unexpected } from './cases.js';
import { bytes, failure, json } from './hostile-server.js';

/** Statuses with their kind. Fetch itself makes 407 a broken connection. */
const REFUSALS: readonly [status: number, kind: string][] = [
  [400, 'invalid_request'],
  [401, 'authentication'],
  [402, 'invalid_request'],
  [403, 'permission'],
  [404, 'not_found'],
  [405, 'invalid_request'],
  [406, 'invalid_request'],
  [409, 'conflict'],
  [410, 'not_found'],
  [411, 'invalid_request'],
  [412, 'precondition'],
  [413, 'invalid_request'],
  [414, 'invalid_request'],
  [415, 'invalid_request'],
  [416, 'invalid_request'],
  [417, 'invalid_request'],
  [418, 'invalid_request'],
  [422, 'invalid_request'],
  [423, 'invalid_request'],
  [424, 'invalid_request'],
  [425, 'invalid_request'],
  [426, 'invalid_request'],
  [428, 'invalid_request'],
  [431, 'invalid_request'],
  [451, 'invalid_request'],
  [499, 'invalid_request'],
  [501, 'server'],
  [505, 'server'],
  [507, 'server'],
  [511, 'server'],
  [520, 'server'],
  [599, 'server'],
];

const PASSING: readonly [status: number, kind: string][] = [
  [408, 'invalid_request'],
  [429, 'rate_limit'],
  [500, 'server'],
  [502, 'server'],
  [503, 'server'],
  [504, 'server'],
];

const create = (store: AdoptionStore) => store.createPet({ name: 'Luna', categoryId: 1n });

/** Bodies of an error that are not the API's Error. */
const NO_ERRORS: readonly [name: string, body: string][] = [
  ['nothing', ''],
  ['HTML', '<h1>Bad</h1>'],
  ['null', 'null'],
  ['a string', '"not_found"'],
  ['a list', '[{"code":"a","message":"b"}]'],
  ['{}', '{}'],
  ['a code alone', '{"code":"a"}'],
  ['a code of 1', '{"code":1,"message":"b"}'],
  ['a message of null', '{"code":"a","message":null}'],
  ['another API’s error', '{"error":{"code":"a","message":"b"}}'],
  ['a problem of RFC 9457', '{"type":"about:blank","title":"Bad","status":400}'],
  ['an animal', '{"id":1,"name":"Luna","categoryId":1,"status":"available"}'],
  ['100,000 brackets', '['.repeat(100_000)],
];

describe('an error of the API that stays', () => {
  play(
    REFUSALS.map(([status, kind]): Case => ({
      server: `${status} an Error`,
      steps: [failure(status, 'not_found', { 'X-Request-Id': 'r1' }), cats],
      ends: { code: 'not_found', kind, status, message: 'a test: not_found', requestId: 'r1' },
      requests: 1,
    })),
  );
});

describe('an error that passes', () => {
  play(
    PASSING.flatMap(([status, kind]): Case[] => [
      { server: `${status} an Error`, steps: [failure(status, 'x')], ends: { code: 'x', kind, status }, requests: 5 },
      { server: `${status} HTML`, steps: [bytes(status, '<h1>')], ends: unexpected(status), requests: 5 },
      { server: `${status} an Error; then 200`, steps: [failure(status, 'x'), cats], ends: CATS_VALUE, requests: 2 },
    ]),
  );
});

describe('500, which a repetition might do twice or never mend', () => {
  const calls: readonly [method: string, requests: number, call: Case['call'] & object][] = [
    ['GET', 5, (store) => store.getCategory(1n)],
    ['PUT', 5, (store) => store.nameCategory(1n, { name: 'Cats' })],
    ['DELETE', 5, (store) => store.removeCategory(1n)],
    ['POST', 1, create],
    ['PATCH', 1, (store) => store.changePet(1n, { name: 'Milo' })],
  ];
  play(
    calls.map(([method, requests, call]): Case => ({
      server: `500 to a ${method}`,
      steps: [failure(500, 'internal_error')],
      call,
      ends: { code: 'internal_error', kind: 'server', status: 500 },
      requests,
    })),
  );
});

describe('an error that is not the API’s', () => {
  play(
    NO_ERRORS.map(([name, body]): Case => ({
      server: `400 ${name}`,
      steps: [bytes(400, body)],
      ends: unexpected(400),
      requests: 1,
    })),
  );
});

describe('codes and messages', () => {
  const refused = (code: string, message: string, headers: Readonly<Record<string, string>> = {}) =>
    json(400, { code, message }, headers);
  const end = (code: string, message: unknown) => ({ code, kind: 'invalid_request', status: 400, message });
  const row = (server: string, step: Case['steps'][number], ends: Case['ends']): Case => ({
    server,
    steps: [step],
    ends,
    requests: 1,
  });
  play([
    row('a code of tomorrow', refused('pet_on_holiday', 'later'), end('pet_on_holiday', 'later')),
    row('an empty code', refused('', 'later'), end('', 'later')),
    row('the code __proto__', refused('__proto__', 'later'), end('__proto__', 'later')),
    row('the code toString', refused('toString', 'later'), end('toString', 'later')),
    row('a message with the key', refused('a', `not ${KEY}!`), end('a', expect.not.stringContaining(KEY))),
    row('a message with the key twice', refused('a', KEY + KEY), end('a', expect.not.stringContaining(KEY))),
    row('a code with the key', refused(KEY, 'b'), { code: expect.not.stringContaining(KEY), kind: 'invalid_request' }),
    row('a request id with the key', refused('a', 'b', { 'X-Request-Id': KEY }), end('a', 'b')),
    row('a body that is the key', bytes(400, KEY), unexpected(400)),
    row('200 and the key', bytes(200, JSON.stringify({ id: KEY, name: 'Cats' })), unexpected(200)),
    row('302 to the key', bytes(302, '', { Location: `/v1/${KEY}` }), unexpected(302)),
    row('a Link to the key', bytes(400, '', { Link: `<${KEY}>; rel="next"` }), unexpected(400)),
  ]);
});

describe('a key in use', () => {
  play([
    {
      server: '409 idempotency_key_in_use; then 201',
      steps: [
        failure(409, 'idempotency_key_in_use'),
        bytes(201, '{"id":1,"name":"Luna","categoryId":1,"status":"available"}'),
      ],
      call: create,
      ends: { value: { id: 1n, name: 'Luna', categoryId: 1n, status: 'available' } },
      requests: 2,
    },
    {
      server: '409 idempotency_key_in_use, for ever',
      steps: [failure(409, 'idempotency_key_in_use')],
      call: (store) => store.createPet({ name: 'Luna', categoryId: 1n }, { idempotencyKey: 'mine' }),
      ends: { code: 'idempotency_key_in_use', kind: 'conflict', status: 409, idempotencyKey: 'mine' },
      requests: 5,
    },
  ]);
});
