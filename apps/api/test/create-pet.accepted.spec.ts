import { MINUTE, PET_STATUSES } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.js';
import { JSON_CONTENT_TYPE } from './support/expectations.js';
import { categoryIdsOf, createPet, get, listPets, type Pet, rawHead, sendOnce } from './support/pets-client.js';
import type { RawResponse } from './support/raw-http.js';

const MAX_BODY_BYTES = 65_536;
const LUNA = '{"name":"Luna","categoryId":1}';

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

/** The animal of a 201. The list must contain the same bytes. */
async function expectCreated(response: RawResponse): Promise<Pet> {
  expect(response).toMatchObject({ status: 201, headers: { 'content-type': JSON_CONTENT_TYPE } });
  const pet = JSON.parse(response.body) as Pet;
  expect((await listPets(api, `?id=${pet.id}`)).body).toBe(`[${response.body}]`);
  return pet;
}

describe('POST /v1/pets answers 201', () => {
  it('with the stored animal, and nothing else', async () => {
    const pet = await expectCreated(await createPet(api, '{"name":"Luna","categoryId":12,"status":"pending"}'));
    expect(pet).toStrictEqual({ id: pet.id, name: 'Luna', categoryId: 12, status: 'pending' });
    expect(pet.id).toBeGreaterThan(0);
  });

  it('with an absolute Location that leads to the animal', async () => {
    const response = await createPet(api, LUNA);
    const { id } = await expectCreated(response);
    expect(response.headers['location']).toBe(`${api.origin}/v1/pets/${id}`);
    expect(await get(api, `/v1/pets/${id}`)).toMatchObject({ status: 200, body: response.body });
  });

  it('with a greater id each time', async () => {
    const first = await expectCreated(await createPet(api, LUNA));
    const second = await expectCreated(await createPet(api, LUNA));
    expect(second.id).toBeGreaterThan(first.id);
  });

  it('with different ids for animals added at once', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => createPet(api, LUNA)));
    const pets = await Promise.all(responses.map(expectCreated));
    expect(new Set(pets.map(({ id }) => id)).size).toBe(20);
  });

  it('with the status available by default', async () => {
    expect(await expectCreated(await createPet(api, LUNA))).toMatchObject({ status: 'available' });
  });

  it.each([...PET_STATUSES])('with the given status %s', async (status) => {
    const body = JSON.stringify({ name: 'Luna', categoryId: 1, status });
    expect(await expectCreated(await createPet(api, body))).toMatchObject({ status });
  });
});

describe('POST /v1/pets takes a name and returns it exactly as sent:', () => {
  it.each([
    ['one character', 'L'],
    ['255 characters', 'x'.repeat(255)],
    ['255 characters beyond the basic plane', '🐈'.repeat(255)],
    ['one character beyond the basic plane', '😺'],
    ['255 characters of mixed width', 'é🐈語'.repeat(85)],
    ['white space at both ends', '  Luna\t\n'],
    ['254 spaces and a letter', `${' '.repeat(254)}x`],
    ['white space of Unicode around it', '\u00a0\u3000Luna\u2003\ufeff'],
    ['white space inside', 'Luna   the \t cat'],
    ['line ends', 'Lu\r\nna\u2028\u2029'],
    ['control characters', '\u0001Luna\u001f\u007f'],
    ['a zero-width space alone, which is not white space', '\u200b'],
    ['quotes and backslashes', 'Lu"na\\ \\" \'x\' \\n \\u0041'],
    ['composed letters', 'Zoë'],
    ['decomposed letters', 'Zoe\u0308'],
    ['right-to-left script', 'قطة שלום'],
    ['joined emoji', '👩‍👩‍👧‍👦🏳️‍🌈'],
    ['noncharacters', '\uffff\ufffe\u{10ffff}'],
    ['the replacement character', '\ufffd'],
    ['what looks like SQL', "'); DROP TABLE animals; --"],
    ['what looks like markup', '<script>alert(1)</script>&amp;'],
    ['what looks like a number', '007'],
    ['a word of JSON', 'null'],
    ['a placeholder', '$1 %s {0} ${name}'],
  ])('%s', async (_case, name) => {
    expect((await expectCreated(await createPet(api, JSON.stringify({ name, categoryId: 1 })))).name).toBe(name);
  });

  it.each([
    ['short escapes', String.raw`\"\\\/\b\f\n\r\tx`, '"\\/\b\f\n\r\tx'],
    ['escapes by number in either case', String.raw`\u00e9\u00E9`, 'éé'],
    ['an escaped surrogate pair', String.raw`\ud83d\ude3a`, '😺'],
    ['an escaped backslash before a u', String.raw`\\u0000`, '\\u0000'],
  ])('%s', async (_case, escaped, name) => {
    expect((await expectCreated(await createPet(api, `{"name":"${escaped}","categoryId":1}`))).name).toBe(name);
  });
});

describe('POST /v1/pets takes a categoryId and returns its digits:', () => {
  it.each([
    '0',
    '1',
    '-1',
    '2147483648',
    '-2147483649',
    '999999999999999',
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '1000000000000000001',
    '9223372036854775806',
    '9223372036854775807',
    '-9223372036854775807',
    '-9223372036854775808',
  ])('%s', async (digits) => {
    const response = await createPet(api, `{"name":"Luna","categoryId":${digits}}`);
    await expectCreated(response);
    expect(categoryIdsOf(response.body)).toEqual([digits]);
  });

  it('-0, which is 0', async () => {
    const response = await createPet(api, '{"name":"Luna","categoryId":-0}');
    await expectCreated(response);
    expect(categoryIdsOf(response.body)).toEqual(['0']);
  });
});

describe('POST /v1/pets ignores', () => {
  it("a client's id", async () => {
    const { id } = await expectCreated(await createPet(api, '{"id":987654321,"name":"Luna","categoryId":1}'));
    expect(id).toBeLessThan(987_654_321);
  });

  it.each([
    ['an unknown property', '"colour":"black"'],
    ['an unknown property that is null', '"colour":null'],
    ['an unknown property that is an object', '"tags":{"a":[1,{"b":2}]}'],
    ['numbers that are no integers elsewhere', '"weight":4.5e-1,"size":1E400'],
    ['a name in another case', '"Name":7,"STATUS":"?"'],
    ['an empty key', '"":""'],
    ['category_id', '"category_id":9'],
    ['a constructor that is no object', '"constructor":7'],
    ['a constructor without a prototype', '"constructor":{"name":"x"}'],
    ['a prototype without a constructor', '"prototype":{"name":"x"}'],
    ['toString', '"toString":1'],
    ['hasOwnProperty', '"hasOwnProperty":false'],
    ['then', '"then":"x"'],
    ['toJSON', '"toJSON":"x"'],
    ['the same key at different places', '"a":{"name":1},"b":{"name":2}'],
  ])('%s', async (_case, properties) => {
    const pet = await expectCreated(await createPet(api, `{${properties},"name":"Luna","categoryId":5}`));
    expect(pet).toStrictEqual({ id: pet.id, name: 'Luna', categoryId: 5, status: 'available' });
  });

  it('the order of the properties', async () => {
    const pet = await expectCreated(await createPet(api, '{"status":"sold","categoryId":1,"name":"Luna"}'));
    expect(pet).toMatchObject({ name: 'Luna', categoryId: 1, status: 'sold' });
  });

  it('white space around every token', async () => {
    await expectCreated(await createPet(api, ' \r\n\t{ "name" : "Luna" ,\n"categoryId"\t:\r1 } \n'));
  });
});

describe('POST /v1/pets takes the Content-Type', () => {
  it.each([
    'application/json',
    'application/json;charset=utf-8',
    'application/json; charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json; charset=Utf-8',
    'application/json; charset="utf-8"',
    'application/json; CHARSET=utf-8',
    'application/json ; charset=utf-8',
    'APPLICATION/JSON',
    'Application/Json; charset=utf-8',
    'application/json; profile="x"',
  ])('%s', async (type) => {
    await expectCreated(await createPet(api, LUNA, { 'Content-Type': type }));
  });
});

describe('POST /v1/pets takes a body', () => {
  const inChunks = (...chunks: readonly string[]) =>
    [...chunks, ''].map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join('');
  const chunkedHead = () =>
    rawHead(api, 'POST /v1/pets HTTP/1.1', ['Content-Type: application/json', 'Transfer-Encoding: chunked']);

  it('in one chunk', async () => {
    await expectCreated(await sendOnce(api, `${chunkedHead()}${inChunks(LUNA)}`));
  });

  it('in a chunk for every byte', async () => {
    await expectCreated(await sendOnce(api, `${chunkedHead()}${inChunks(...Array.from(LUNA))}`));
  });

  it('in chunks that split a character', async () => {
    const bytes = Buffer.from('{"name":"🐈","categoryId":1}');
    const chunks = [...bytes].map((byte) =>
      Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]),
    );
    const sent = Buffer.concat([Buffer.from(chunkedHead()), ...chunks, Buffer.from('0\r\n\r\n')]);
    expect(await expectCreated(await sendOnce(api, sent))).toMatchObject({ name: '🐈' });
  });

  it('in chunks with an extension and a trailer', async () => {
    const chunk = `${LUNA.length.toString(16)};a=b\r\n${LUNA}\r\n0\r\nX-Trailer: x\r\n\r\n`;
    await expectCreated(await sendOnce(api, `${chunkedHead()}${chunk}`));
  });

  it('after it was asked to go on with 100-continue', async () => {
    const headers = ['Content-Type: application/json', `Content-Length: ${LUNA.length}`, 'Expect: 100-continue'];
    await expectCreated(await sendOnce(api, `${rawHead(api, 'POST /v1/pets HTTP/1.1', headers)}${LUNA}`));
  });

  const padded = (size: number) => `{"name":"Luna","categoryId":1,"x":"${'x'.repeat(size - 37)}"}`;

  it('of exactly 64 KiB', async () => {
    const body = padded(MAX_BODY_BYTES);
    expect(Buffer.byteLength(body)).toBe(MAX_BODY_BYTES);
    await expectCreated(await createPet(api, body));
  });

  it('of exactly 64 KiB in chunks', async () => {
    const body = padded(MAX_BODY_BYTES);
    await expectCreated(await sendOnce(api, `${chunkedHead()}${inChunks(body.slice(0, 30_000), body.slice(30_000))}`));
  });

  it.each([
    ['arrays', '['.repeat(15), ']'.repeat(15)],
    ['objects', '{"a":'.repeat(15), `1${'}'.repeat(15)}`],
    ['both in turn', '[{"a":'.repeat(7) + '[', ']' + '}]'.repeat(7)],
  ])('16 levels deep, of %s', async (_case, open, close) => {
    await expectCreated(await createPet(api, `{"name":"Luna","categoryId":1,"x":${open}${close}}`));
  });
});
