import { MINUTE } from '@adoption-store/domain';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { useApi } from '../support/api.js';
import { expectError } from '../support/expectations.js';
import { createPet } from '../support/pets-client.js';

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

afterEach(async () => {
  // A refused request stores nothing.
  expect(await api.application.listAnimals.execute()).toEqual({ items: [], next: undefined });
});

async function expectInvalidJson(body: string | Buffer, message: RegExp): Promise<void> {
  expect(expectError(await createPet(api, body), 400, 'invalid_json')).toMatch(message);
}

describe('POST /v1/pets answers 400 invalid_json to a body', () => {
  const luna = '{"name":"Luna","categoryId":1}';

  it.each([
    ['that is empty', ''],
    ['of white space', ' \r\n\t '],
    ['that is cut short', luna.slice(0, -1)],
    ['that is cut short in a string', '{"name":"Lu'],
    ['that is cut short in an escape', '{"name":"\\'],
    ['that is cut short in a number', '{"name":"Luna","categoryId":-'],
    ['that is cut short in a word', '{"name":"Luna","categoryId":1,"x":tru'],
    ['with garbage behind', `${luna}x`],
    ['with another body behind', `${luna}${luna}`],
    ['with another body on the next line', `${luna}\n${luna}`],
    ['with a bracket behind', `${luna}}`],
    ['with a semicolon behind', `${luna};`],
    ['with U+0000 behind', `${luna}\0`],
    ['with garbage before', `x${luna}`],
    ['with a guard against scripts before', `)]}',\n${luna}`],
    ['with a comma before the first property', `{,${luna.slice(1)}`],
    ['with a comma behind the last property', `${luna.slice(0, -1)},}`],
    ['with a comma behind the last element', '{"name":"Luna","categoryId":1,"x":[1,]}'],
    ['with two commas', '{"name":"Luna",,"categoryId":1}'],
    ['without a comma', '{"name":"Luna" "categoryId":1}'],
    ['without a colon', '{"name" "Luna","categoryId":1}'],
    ['without a value', '{"name":,"categoryId":1}'],
    ['without a key', '{:"Luna","categoryId":1}'],
    ['with brackets that do not match', '{"name":"Luna","categoryId":1,"x":[}]'],
    ['with keys in single quotes', "{'name':'Luna','categoryId':1}"],
    ['with keys without quotes', '{name:"Luna",categoryId:1}'],
    ['with a key that is a number', '{1:2,"name":"Luna","categoryId":1}'],
    ['with a line comment', `${luna}// x`],
    ['with a comment', `{/* x */${luna.slice(1)}`],
    ['with a tab in a string', '{"name":"Lu\tna","categoryId":1}'],
    ['with a line feed in a string', '{"name":"Lu\nna","categoryId":1}'],
    ['with an unknown escape', '{"name":"\\x41","categoryId":1}'],
    ['with an escape of three digits', '{"name":"\\u041","categoryId":1}'],
    ['with white space of Unicode', `\u00a0${luna}`],
    ['with a vertical tab', `\v${luna}`],
    ['that is a form', 'name=Luna&categoryId=1'],
    ['that is markup', '<pet><name>Luna</name></pet>'],
  ])('%s', async (_case, body) => {
    await expectInvalidJson(body, /^the body is not JSON/);
  });

  it.each([
    ['NaN', 'NaN'],
    ['Infinity', 'Infinity'],
    ['-Infinity', '-Infinity'],
    ['undefined', 'undefined'],
    ['a word in capitals', 'TRUE'],
    ['a leading zero', '01'],
    ['a leading zero below zero', '-01'],
    ['a leading plus', '+1'],
    ['two signs', '--1'],
    ['a sign alone', '-'],
    ['no digit before the point', '.5'],
    ['no digit behind the point', '1.'],
    ['no digit in the exponent', '1e'],
    ['hexadecimal digits', '0x1F'],
    ['bigint notation', '1n'],
    ['a digit separator', '1_000'],
    ['full-width digits', '１'],
  ])('with the number %s', async (_case, number) => {
    await expectInvalidJson(`{"name":"Luna","categoryId":${number}}`, /^the body is not JSON/);
  });

  it.each([
    ['an empty array', '[]'],
    ['an array of an animal', `[${luna}]`],
    ['a string', '"Luna"'],
    ['a string of JSON', JSON.stringify(luna)],
    ['an integer', '1'],
    ['a great integer', '9223372036854775807'],
    ['a fraction', '1.5'],
    ['true', 'true'],
    ['false', 'false'],
    ['null', 'null'],
  ])('that is %s, not an object', async (_case, body) => {
    await expectInvalidJson(body, /^the body must be a JSON object/);
  });
});

describe('POST /v1/pets answers 400 invalid_json to a property that comes twice', () => {
  it.each([
    ['the name', '{"name":"Luna","categoryId":1,"name":"Milo"}', 'name'],
    ['the name, alike', '{"name":"Luna","name":"Luna","categoryId":1}', 'name'],
    ['the name, once by an escape', '{"name":"Luna","n\\u0061me":"Milo","categoryId":1}', 'name'],
    ['the categoryId', '{"name":"Luna","categoryId":1,"categoryId":2}', 'categoryId'],
    [
      'the categoryId, once of many digits',
      '{"name":"a","categoryId":1,"categoryId":9223372036854775807}',
      'categoryId',
    ],
    ['an unknown one', '{"x":1,"x":1,"name":"Luna","categoryId":1}', 'x'],
    ['the empty one', '{"":1,"":1,"name":"Luna","categoryId":1}', ''],
    ['one in a nested object', '{"name":"Luna","categoryId":1,"x":{"a":1,"a":2}}', 'a'],
    ['one in an object of an array', '{"name":"Luna","categoryId":1,"x":[[{"a":1,"a":2}]]}', 'a'],
    ['one named like what every object has', '{"toString":1,"toString":1,"name":"Luna","categoryId":1}', 'toString'],
  ])('%s', async (_case, body, key) => {
    await expectInvalidJson(body, new RegExp(`"${key}" twice`));
  });
});

describe('POST /v1/pets answers 400 invalid_json to a property that could reach a prototype', () => {
  it.each([
    ['__proto__', '{"__proto__":{"name":"x"},"name":"Luna","categoryId":1}'],
    ['__proto__ that is null', '{"__proto__":null,"name":"Luna","categoryId":1}'],
    ['__proto__ that is a number', '{"__proto__":1,"name":"Luna","categoryId":1}'],
    ['__proto__ that carries the fields', '{"__proto__":{"name":"Luna","categoryId":1}}'],
    ['__proto__ by an escape', '{"\\u005f_proto__":{},"name":"Luna","categoryId":1}'],
    ['__proto__ in a nested object', '{"name":"Luna","categoryId":1,"x":{"__proto__":{}}}'],
    ['__proto__ in an array', '{"name":"Luna","categoryId":1,"x":[{"__proto__":{}}]}'],
    ['__proto__ beside great integers', '{"name":"Luna","categoryId":9223372036854775807,"__proto__":{}}'],
    ['constructor.prototype', '{"constructor":{"prototype":{}},"name":"Luna","categoryId":1}'],
    ['constructor.prototype that is null', '{"constructor":{"prototype":null},"name":"Luna","categoryId":1}'],
    ['constructor.prototype by escapes', '{"constructo\\u0072":{"prototyp\\u0065":1},"name":"Luna","categoryId":1}'],
    ['constructor.prototype in a nested object', '{"name":"Luna","categoryId":1,"x":{"constructor":{"prototype":1}}}'],
  ])('%s', async (_case, body) => {
    await expectInvalidJson(body, /__proto__|constructor/);
  });
});

describe('POST /v1/pets answers 400 invalid_json to text no JSON should hold:', () => {
  it.each([
    ['U+0000 in the name', '{"name":"Lu\\u0000na","categoryId":1}', /U\+0000/],
    ['U+0000 alone in the name', '{"name":"\\u0000","categoryId":1}', /U\+0000/],
    ['U+0000 in a key', '{"name":"Luna","categoryId":1,"x\\u0000":1}', /U\+0000/],
    ['U+0000 in an unknown value', '{"name":"Luna","categoryId":1,"x":"\\u0000"}', /U\+0000/],
    ['U+0000 in a nested value', '{"name":"Luna","categoryId":1,"x":[{"y":"\\u0000"}]}', /U\+0000/],
    ['U+0000 in the status', '{"name":"Luna","categoryId":1,"status":"sold\\u0000"}', /U\+0000/],
    ['a lone high surrogate in the name', '{"name":"\\ud83d","categoryId":1}', /surrogate/],
    ['a lone low surrogate in the name', '{"name":"\\ude3a","categoryId":1}', /surrogate/],
    ['a pair in the wrong order', '{"name":"\\ude3a\\ud83d","categoryId":1}', /surrogate/],
    ['a high surrogate before a letter', '{"name":"\\ud83dx","categoryId":1}', /surrogate/],
    ['a lone surrogate in a key', '{"name":"Luna","categoryId":1,"\\ud83d":1}', /surrogate/],
    ['a lone surrogate in a nested key', '{"name":"Luna","categoryId":1,"x":{"y":{"\\udfff":1}}}', /surrogate/],
    ['a lone surrogate in a nested value', '{"name":"Luna","categoryId":1,"x":["\\ud800"]}', /surrogate/],
  ])('%s', async (_case, body, message) => {
    await expectInvalidJson(body, message);
  });

  it.each([
    ['a byte that never occurs in UTF-8', Buffer.of(0xff)],
    ['a continuation byte alone', Buffer.of(0x80)],
    ['a sequence cut short', Buffer.of(0xe2, 0x82)],
    ['an overlong slash', Buffer.of(0xc0, 0xaf)],
    ['an overlong U+0000', Buffer.of(0xc0, 0x80)],
    ['a surrogate in UTF-8', Buffer.of(0xed, 0xa0, 0x80)],
    ['a code point beyond U+10FFFF', Buffer.of(0xf4, 0x90, 0x80, 0x80)],
    ['a letter in ISO 8859-1', Buffer.from('é', 'latin1')],
  ])('%s', async (_case, bytes) => {
    const body = Buffer.concat([Buffer.from('{"name":"'), bytes, Buffer.from('","categoryId":1}')]);
    await expectInvalidJson(body, /UTF-8/);
  });

  it.each([
    ['a byte-order mark', Buffer.from('\ufeff{"name":"Luna","categoryId":1}')],
    ['UTF-16', Buffer.from('{"name":"Luna","categoryId":1}', 'utf16le')],
    ['UTF-16 with a byte-order mark', Buffer.from('\ufeff{"name":"Luna","categoryId":1}', 'utf16le')],
    ['gzip', Buffer.from('1f8b0800000000000003', 'hex')],
  ])('%s', async (_case, body) => {
    await expectInvalidJson(body, /^the body is not/);
  });
});

describe('POST /v1/pets answers 400 invalid_json to nesting', () => {
  it.each([
    ['17 levels deep, of arrays', '['.repeat(16), ']'.repeat(16)],
    ['17 levels deep, of objects', '{"a":'.repeat(16), `1${'}'.repeat(16)}`],
    ['30,000 levels deep, of arrays', '['.repeat(30_000), ']'.repeat(30_000)],
    ['10,000 levels deep, of objects', '{"a":'.repeat(10_000), `1${'}'.repeat(10_000)}`],
    ['60,000 levels deep, never closed', '['.repeat(60_000), ''],
  ])('%s', async (_case, open, close) => {
    await expectInvalidJson(`{"name":"Luna","categoryId":1,"x":${open}${close}}`, /\b16 levels/);
  });
});
