import { gzipSync } from 'node:zlib';
import { describe } from '@jest/globals';
import type { AdoptionStore } from '../../src/index.js';
import { type Case, cats, CATS_VALUE, play, unexpected } from './cases.js';
import { bytes, json } from './hostile-server.js';

const PET = '"id":1,"name":"Luna","categoryId":2,"status":"available"';
const LUNA = { id: 1n, name: 'Luna', categoryId: 2n, status: 'available' };
const pet = (store: AdoptionStore) => store.createPet({ name: 'Luna', categoryId: 2n });
const pets = async (store: AdoptionStore) => (await store.pets().page()).items;

/** Bodies that are no category. */
const NO_CATEGORY: readonly [name: string, body: string | Uint8Array][] = [
  ['nothing', ''],
  ['a space', ' '],
  ['null', 'null'],
  ['true', 'true'],
  ['a number', '1'],
  ['a string', '"Cats"'],
  ['{}', '{}'],
  ['a list', '[{"id":1,"name":"Cats"}]'],
  ['an Error with 200', '{"code":"not_found","message":"no such category"}'],
  ['without an id', '{"name":"Cats"}'],
  ['without a name', '{"id":1}'],
  ['an id of null', '{"id":null,"name":"Cats"}'],
  ['an id of text', '{"id":"1","name":"Cats"}'],
  ['an id of 1.0', '{"id":1.0,"name":"Cats"}'],
  ['an id of 1.5', '{"id":1.5,"name":"Cats"}'],
  ['an id of 1e3', '{"id":1e3,"name":"Cats"}'],
  ['an id of 2^63', '{"id":9223372036854775808,"name":"Cats"}'],
  ['an id of -2^63-1', '{"id":-9223372036854775809,"name":"Cats"}'],
  ['an id of 4,000 digits', `{"id":${'9'.repeat(4_000)},"name":"Cats"}`],
  ['an id of {}', '{"id":{},"name":"Cats"}'],
  ['an id of [1]', '{"id":[1],"name":"Cats"}'],
  ['a name of 1', '{"id":1,"name":1}'],
  ['a name of null', '{"id":1,"name":null}'],
  ['a name of []', '{"id":1,"name":[]}'],
  ['its properties in a __proto__', '{"__proto__":{"id":1,"name":"Cats"}}'],
  ['truncated', '{"id":1,"name":"Ca'],
  ['truncated after the value', '{"id":1,"name":"Cats"'],
  ['text after the value', '{"id":1,"name":"Cats"}}'],
  ['two values', '{"id":1,"name":"Cats"}{"id":1,"name":"Cats"}'],
  ['a trailing comma', '{"id":1,"name":"Cats",}'],
  ['a comment', '{"id":1,/* */"name":"Cats"}'],
  ['single quotes', "{'id':1,'name':'Cats'}"],
  ['NaN', '{"id":NaN,"name":"Cats"}'],
  ['an id of 01', '{"id":01,"name":"Cats"}'],
  ['invalid UTF-8', Buffer.concat([Buffer.from('{"id":1,"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])],
  [
    'half of a character',
    Buffer.concat([Buffer.from('{"id":1,"name":"'), Buffer.from([0xe2, 0x82]), Buffer.from('"}')]),
  ],
  ['UTF-16', Buffer.from('\uFEFF{"id":1,"name":"Cats"}', 'utf16le')],
  ['HTML', '<!doctype html><title>Sign in</title>'],
  ['JavaScript', 'callback({"id":1,"name":"Cats"})'],
  ['100,000 brackets', '['.repeat(100_000)],
  ['100,000 lists in each other', '['.repeat(100_000) + ']'.repeat(100_000)],
  ['100,000 objects in each other', '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
  ['NUL bytes', new Uint8Array(1_000)],
];

/** Bodies that are a category. */
const A_CATEGORY: readonly [name: string, body: string | Uint8Array, value?: object][] = [
  ['spaces around it', ' \r\n\t{"id":1,"name":"Cats"}\n'],
  ['a byte order mark', '\uFEFF{"id":1,"name":"Cats"}'],
  [
    'properties of tomorrow',
    '{"id":1,"name":"Cats","colour":{"of":["their","tails"]}}',
    { id: 1n, name: 'Cats', colour: { of: ['their', 'tails'] } },
  ],
  ['the largest int64', '{"id":9223372036854775807,"name":"Cats"}', { id: 2n ** 63n - 1n, name: 'Cats' }],
  ['the smallest int64', '{"id":-9223372036854775808,"name":"Cats"}', { id: -(2n ** 63n), name: 'Cats' }],
  ['2^53+1', '{"id":9007199254740993,"name":"Cats"}', { id: 9_007_199_254_740_993n, name: 'Cats' }],
  ['escapes', '{"\\u0069d":1,"name":"C\\u0061ts"}'],
  ['a lone surrogate', '{"id":1,"name":"\\ud800"}', { id: 1n, name: '\ud800' }],
];

describe('a body of 200', () => {
  play([
    ...NO_CATEGORY.map(([name, body]): Case => ({
      server: `200 ${name}`,
      steps: [bytes(200, body)],
      ends: unexpected(200),
      requests: 1,
    })),
    ...A_CATEGORY.map(([name, body, value = CATS_VALUE.value]): Case => ({
      server: `200 ${name}`,
      steps: [bytes(200, body)],
      ends: { value },
      requests: 1,
    })),
    {
      server: '200 gzip',
      steps: [bytes(200, gzipSync('{"id":1,"name":"Cats"}'), { 'Content-Encoding': 'gzip' })],
      ends: CATS_VALUE,
      requests: 1,
    },
    {
      server: '200 text/html that is JSON',
      steps: [bytes(200, '{"id":1,"name":"Cats"}', { 'Content-Type': 'text/html' })],
      ends: CATS_VALUE,
      requests: 1,
    },
  ]);
});

describe('another body', () => {
  const row = (server: string, step: Case['steps'][number], call: Case['call'], ends: Case['ends']): Case => ({
    server,
    steps: [step],
    ...(call && { call }),
    ends,
    requests: 1,
  });
  const withdraw = (store: AdoptionStore) => store.withdrawPet(1n);
  play([
    row('204 to a GET', bytes(204, ''), undefined, unexpected(204)),
    row('204 to a POST', bytes(204, ''), pet, unexpected(204)),
    row('204 to a DELETE', bytes(204, ''), withdraw, { value: undefined }),
    row('200 {} to a DELETE', json(200, {}), withdraw, unexpected(200)),
    row('201 a category to a POST of an animal', json(201, { id: 1, name: 'Cats' }), pet, unexpected(201)),
    row('201 an animal', bytes(201, `{${PET}}`), pet, { value: LUNA }),
    row('201 a status of tomorrow', bytes(201, `{${PET.replace('available', 'resting')}}`), pet, {
      value: { ...LUNA, status: 'resting' },
    }),
    row('201 a status of null', bytes(201, `{${PET.replace('"available"', 'null')}}`), pet, unexpected(201)),
    row('201 an id twice, the second as text', bytes(201, `{${PET},"id":"1"}`), pet, unexpected(201)),
    row('206 a part', bytes(206, '{"id":1'), undefined, unexpected(206)),
    row('200 null to a list', bytes(200, 'null'), pets, unexpected(200)),
    row('200 {} to a list', bytes(200, '{}'), pets, unexpected(200)),
    row('200 an animal to a list', bytes(200, `{${PET}}`), pets, unexpected(200)),
    row('200 {"length":1} to a list', bytes(200, '{"length":1}'), pets, unexpected(200)),
    row('200 [null]', bytes(200, '[null]'), pets, unexpected(200)),
    row('200 a list whose last animal has no name', bytes(200, `[{${PET}},{"id":2}]`), pets, unexpected(200)),
    row('200 []', bytes(200, '[]'), pets, { value: [] }),
    row(
      '200 limits without a minute',
      bytes(200, '{"plan":"free","day":{},"ban":null}'),
      (store) => store.getRateLimit(),
      unexpected(200),
    ),
    row(
      '200 limits that are fractions',
      bytes(
        200,
        '{"plan":"free","minute":{"limit":1.5,"used":0,"remaining":1,"reset":1},"day":{"limit":1,"used":0,"remaining":1,"reset":1},"ban":null}',
      ),
      (store) => store.getRateLimit(),
      unexpected(200),
    ),
  ]);
});

describe('a broken answer is not asked for again', () => {
  play([
    { server: '200 {}, then an answer', steps: [json(200, {}), cats], ends: unexpected(200), requests: 1 },
    { server: '200 HTML, then an answer', steps: [bytes(200, '<html>'), cats], ends: unexpected(200), requests: 1 },
  ]);
});
