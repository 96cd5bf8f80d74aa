import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { cats, clientOf, errorOf, KEY, refusal } from '../test/support/scripted-client.js';
import type { AdoptionStore } from './index.js';

const TEXT = '{"id":1,"name":"Cats"}';
const MIB = 2 ** 20;
const WINDOW = { limit: 60, used: 1, remaining: 59, reset: 1_795_262_460 };
const LIMITS = { plan: 'free', minute: WINDOW, day: WINDOW };
const UNEXPECTED = { code: 'unexpected_response', kind: 'unexpected_response' };

type Call = (store: AdoptionStore) => PromiseLike<unknown>;
const limits: Call = (store) => store.getRateLimit();
const withdraw: Call = (store) => store.pets.remove(1n);
const create: Call = (store) => store.pets.create({ name: 'Luna', categoryId: 1n });

describe('a success', () => {
  it.each<[string, string | Uint8Array<ArrayBuffer>]>([
    ['null', 'null'],
    ['no name', '{"id":1}'],
    ['an id of 1.0', '{"id":1.0,"name":"Cats"}'],
    ['an id of 2^63', '{"id":9223372036854775808,"name":"Cats"}'],
    ['its properties in a __proto__', `{"__proto__":${TEXT}}`],
    ['a value cut short', '{"id":1,"name":"Ca'],
    ['invalid UTF-8', new Uint8Array([...Buffer.from('{"id":1,"name":"'), 0xff, 0xfe, ...Buffer.from('"}')])],
    ['100,000 objects in each other', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ])('with %s is no category, and is not asked for again', async (_what, body) => {
    const { store, sent } = clientOf([new Response(body), cats()]);
    expect(await errorOf(store.categories.get(1n))).toMatchObject({ ...UNEXPECTED, status: 200 });
    expect(sent).toHaveLength(1);
  });

  it('may have a byte order mark, and properties of tomorrow', async () => {
    const { store } = clientOf([new Response(`\uFEFF${TEXT.replace('}', ',"x":[]}')}`)]);
    expect(await store.categories.get(1n)).toEqual({ id: 1n, name: 'Cats', x: [] });
  });

  it.each<[string, Response, Call]>([
    ['limits without a ban', new Response(JSON.stringify(LIMITS)), limits],
    ['a list whose last animal has no name', new Response('[{"id":2}]'), (store) => store.pets.list().page()],
    ['204 for a category', new Response(null, { status: 204 }), (store) => store.categories.get(1n)],
    ['200 for a withdrawal', new Response('{}'), withdraw],
    ['a category for a new animal', new Response(TEXT, { status: 201 }), create],
  ])('of %s is unexpected', async (_what, response, call) => {
    const { store } = clientOf([response]);
    expect(await errorOf(call(store))).toMatchObject({ ...UNEXPECTED, status: response.status });
  });

  it('of limits may have a ban', async () => {
    const banned = { ...LIMITS, ban: { until: 1_795_262_460 } };
    expect(await clientOf([new Response(JSON.stringify(banned))]).store.getRateLimit()).toEqual(banned);
  });
});

describe('a body', () => {
  it('of 10 MiB is read, and not one of a byte more, which is not asked for again', async () => {
    const padded = (size: number) => () => new Response(TEXT.padEnd(size));
    expect(await clientOf([padded(10 * MIB)]).store.categories.get(1n)).toEqual({ id: 1n, name: 'Cats' });
    const { store, sent } = clientOf([padded(10 * MIB + 1)]);
    const tooLarge = { code: 'response_too_large', kind: 'unexpected_response', status: 200 };
    expect(await errorOf(store.categories.get(1n))).toMatchObject(tooLarge);
    expect(sent).toHaveLength(1);
  });

  it('without an end is read no further', async () => {
    let read = 0;
    const flood = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        read += MIB;
        controller.enqueue(new Uint8Array(MIB));
      },
    });
    const { store } = clientOf([() => new Response(flood)]);
    expect(await errorOf(store.categories.get(1n))).toMatchObject({ code: 'response_too_large' });
    expect(read).toBeLessThan(13 * MIB);
  });
});

describe('an error', () => {
  it.each([
    [400, 'invalid_request'],
    [401, 'authentication'],
    [403, 'permission'],
    [404, 'not_found'],
    [409, 'conflict'],
    [410, 'not_found'],
    [412, 'precondition'],
    [429, 'rate_limit'],
    [501, 'server'],
  ])('%i of the API is of the kind %s', async (status, kind) => {
    const { store } = clientOf([refusal(status, { 'X-Request-Id': 'r1' })], { maxTries: 1 });
    const expected = { code: 'a_code', kind, status, message: 'a test', requestId: 'r1' };
    expect(await errorOf(store.categories.get(1n))).toMatchObject(expected);
  });

  it('may have any code, such as one that every object has', async () => {
    const error = await errorOf(clientOf([refusal(400, {}, '__proto__')]).store.categories.get(1n));
    expect(error).toMatchObject({ code: '__proto__', kind: 'invalid_request' });
  });

  it.each([
    ['nothing', ''],
    ['HTML', '<h1>'],
    ['a code alone', '{"code":"a"}'],
    ['100,000 brackets', '['.repeat(100_000)],
  ])('of another server is unexpected: %s', async (_what, body) => {
    const { store } = clientOf([new Response(body, { status: 400 })]);
    expect(await errorOf(store.categories.get(1n))).toMatchObject({ ...UNEXPECTED, status: 400 });
  });

  it.each([
    ['message', JSON.stringify({ code: 'a', message: `not ${KEY}, ${KEY}!` })],
    ['code', JSON.stringify({ code: KEY, message: 'b' })],
    ['body', KEY],
  ])('whose %s repeats the key never shows it, nor do its request id and its tag', async (_where, body) => {
    const { store } = clientOf([new Response(body, { status: 400, headers: { 'X-Request-Id': KEY, ETag: KEY } })]);
    const error = await errorOf(store.categories.get(1n));
    const printed = [inspect(error, { depth: null, showHidden: true }), String(error), JSON.stringify(error)];
    expect(printed.join()).not.toContain(KEY);
  });
});
