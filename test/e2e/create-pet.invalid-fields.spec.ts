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

async function expectInvalid(body: string, message: RegExp): Promise<void> {
  expect(expectError(await createPet(api, body), 400, 'invalid_parameter')).toMatch(message);
}

describe('POST /v1/pets answers 400 invalid_parameter to a name', () => {
  it('that is missing', async () => {
    await expectInvalid('{"categoryId":1}', /^name\b.*required/);
  });

  it('that is only called so in another case', async () => {
    await expectInvalid('{"Name":"Luna","categoryId":1}', /^name\b.*required/);
  });

  it.each([
    ['null', 'null'],
    ['an integer', '7'],
    ['a great integer', '9223372036854775807'],
    ['a fraction', '1.5'],
    ['a boolean', 'true'],
    ['an array', '["Luna"]'],
    ['an object', '{"first":"Luna"}'],
    ['an object that looks like a string', '{"length":4,"trim":1}'],
  ])('that is %s', async (_case, json) => {
    await expectInvalid(`{"name":${json},"categoryId":1}`, /^name\b.*(string|required)/);
  });

  it.each([
    ['is empty', ''],
    ['is a space', ' '],
    ['is 255 spaces', ' '.repeat(255)],
    ['is tabs and line ends', '\t\r\n\v\f'],
    ['is no-break spaces', '\u00a0\u202f'],
    ['is ideographic spaces', '\u3000'],
    ['is line and paragraph separators', '\u2028\u2029'],
    ['is a byte-order mark', '\ufeff'],
  ])('that %s', async (_case, name) => {
    await expectInvalid(JSON.stringify({ name, categoryId: 1 }), /^name\b.*(empty|white space)/);
  });

  it.each([
    ['256 characters', 'x'.repeat(256)],
    ['256 characters beyond the basic plane', '🐈'.repeat(256)],
    ['256 characters, of which the last is a space', `${'x'.repeat(255)} `],
    ['60,000 characters', 'x'.repeat(60_000)],
  ])('of %s', async (_case, name) => {
    await expectInvalid(JSON.stringify({ name, categoryId: 1 }), /^name\b.*\b255\b/);
  });
});

describe('POST /v1/pets answers 400 invalid_parameter to a categoryId', () => {
  it('that is missing', async () => {
    await expectInvalid('{"name":"Luna"}', /^categoryId\b.*required/);
  });

  it('that is only called so in another case', async () => {
    await expectInvalid('{"name":"Luna","categoryid":1,"category_id":1}', /^categoryId\b.*required/);
  });

  it.each([
    ['null', 'null'],
    ['a string of digits', '"1"'],
    ['an empty string', '""'],
    ['true', 'true'],
    ['false', 'false'],
    ['an array', '[1]'],
    ['an object', '{"id":1}'],
    ['a fraction', '1.5'],
    ['an integer with a fraction', '1.0'],
    ['zero with a fraction', '0.0'],
    ['an integer with an exponent', '1e3'],
    ['an integer with a capital exponent', '1E3'],
    ['an integer with a zero exponent', '1e0'],
    ['an integer with a negative exponent', '1000e-3'],
    ['an integer with fraction and exponent', '1.5e1'],
    ['beyond what a double holds', '1e400'],
    ['2^63', '9223372036854775808'],
    ['-2^63-1', '-9223372036854775809'],
    ['2^64', '18446744073709551616'],
    ['2^64+1, which is 1 modulo 2^64', '18446744073709551617'],
    ['of 21 digits', '100000000000000000000'],
    ['of 400 digits', '9'.repeat(400)],
    ['of 60,000 digits', '9'.repeat(60_000)],
    ['of 60,000 digits below zero', `-${'9'.repeat(60_000)}`],
  ])('that is %s', async (_case, json) => {
    await expectInvalid(
      `{"name":"Luna","categoryId":${json}}`,
      /^categoryId\b.*(-9223372036854775808.*9223372036854775807|required)/,
    );
  });
});

describe('POST /v1/pets answers 400 invalid_parameter to a status', () => {
  it.each([
    ['null', 'null'],
    ['unknown', '"adopted"'],
    ['empty', '""'],
    ['in another case', '"Available"'],
    ['in capitals', '"SOLD"'],
    ['a state with a space behind', '"sold "'],
    ['an integer', '0'],
    ['a boolean', 'true'],
    ['an array of a state', '["sold"]'],
    ['an object', '{"sold":true}'],
    ['a property every object has', '"constructor"'],
  ])('that is %s', async (_case, json) => {
    await expectInvalid(`{"name":"Luna","categoryId":1,"status":${json}}`, /^status\b.*available, pending, sold/);
  });
});

describe('POST /v1/pets answers 400 invalid_parameter', () => {
  it('to an empty object', async () => {
    await expectInvalid('{}', /^(name|categoryId)\b.*required/);
  });

  it('to an animal inside an object', async () => {
    await expectInvalid('{"pet":{"name":"Luna","categoryId":1}}', /^(name|categoryId)\b.*required/);
  });

  it('to one bad field among good ones, naming that one', async () => {
    await expectInvalid('{"name":"Luna","categoryId":"x","status":"sold"}', /^categoryId\b/);
  });
});
