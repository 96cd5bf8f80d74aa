import { INT64_MAX, INT64_MIN, isInt64, MINUTE } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { useApi } from './support/api.js';
import { expectError } from './support/expectations.js';
import { categoryIdsOf, createPet, get, listPets, type Pet } from './support/pets-client.js';

const RUNS = 30;

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

async function expectRoundTrip(categoryId: bigint): Promise<void> {
  const created = await createPet(api, `{"name":"Luna","categoryId":${categoryId}}`);
  expect(created).toMatchObject({ status: 201 });
  const { id } = JSON.parse(created.body) as Pet;
  const digits = [String(categoryId)];
  expect(categoryIdsOf(created.body)).toEqual(digits);
  expect(categoryIdsOf((await get(api, `/v1/pets/${id}`)).body)).toEqual(digits);
  expect(categoryIdsOf((await listPets(api, `?id=${id}`)).body)).toEqual(digits);
}

/** ±(2^k ± 1), each k from 0 to 63. */
function aroundPowersOfTwo(): readonly bigint[] {
  const powers = Array.from({ length: 64 }, (_, exponent) => 2n ** BigInt(exponent));
  return [...new Set(powers.flatMap((power) => [power - 1n, power + 1n, 1n - power, -power - 1n]))];
}

describe('a categoryId', () => {
  it.each(Array.from({ length: 4 }, (_, quarter) => quarter))(
    'of ±(2^k ± 1) comes back digit by digit, each k, part %#',
    async (quarter) => {
      const values = aroundPowersOfTwo().filter(isInt64);
      for (const value of values.filter((_, index) => index % 4 === quarter)) await expectRoundTrip(value);
    },
  );

  it('of ±(2^k ± 1) is refused where it is beyond int64', async () => {
    const beyond = aroundPowersOfTwo().filter((value) => value < INT64_MIN || value > INT64_MAX);
    expect(beyond).toEqual([2n ** 63n + 1n, -(2n ** 63n) - 1n]);
    for (const value of beyond) {
      const response = await createPet(api, `{"name":"Luna","categoryId":${value}}`);
      expect(expectError(response, 400, 'invalid_parameter')).toMatch(/^categoryId\b/);
    }
  });

  it('comes back digit by digit, whichever int64 it is', async () => {
    await fc.assert(fc.asyncProperty(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), expectRoundTrip), {
      numRuns: RUNS,
    });
  });

  it('is refused, whichever integer beyond int64 it is', async () => {
    const beyond = fc.oneof(
      fc.bigInt({ min: INT64_MAX + 1n, max: 2n ** 200n }),
      fc.bigInt({ min: -(2n ** 200n), max: INT64_MIN - 1n }),
    );
    const property = fc.asyncProperty(beyond, async (value) => {
      const response = await createPet(api, `{"name":"Luna","categoryId":${value}}`);
      expectError(response, 400, 'invalid_parameter');
    });
    await fc.assert(property, { numRuns: RUNS });
  });

  it('is refused, whichever number with a fraction or an exponent it is', async () => {
    const digits = fc.nat({ max: 999_999 });
    const texts = fc.oneof(
      fc.tuple(digits, digits).map(([whole, fraction]) => `${whole}.${fraction}`),
      fc.tuple(digits, fc.constantFrom('e', 'E', 'e+', 'e-'), fc.nat({ max: 400 })).map((parts) => parts.join('')),
    );
    const property = fc.asyncProperty(texts, async (text) => {
      const response = await createPet(api, `{"name":"Luna","categoryId":${text}}`);
      expectError(response, 400, 'invalid_parameter');
    });
    await fc.assert(property, { numRuns: RUNS });
  });
});

describe('a name', () => {
  const isName = (text: string) => text.trim() !== '' && !text.includes('\0') && [...text].length <= 255;

  it.each(['grapheme', 'binary'] as const)('comes back as it was sent, whichever %s string it is', async (unit) => {
    const names = fc.string({ unit, minLength: 1, maxLength: 255 }).filter(isName);
    const property = fc.asyncProperty(names, async (name) => {
      const created = await createPet(api, JSON.stringify({ name, categoryId: 1 }));
      expect(created).toMatchObject({ status: 201 });
      const { id, name: returned } = JSON.parse(created.body) as Pet;
      expect(returned).toBe(name);
      expect((JSON.parse((await get(api, `/v1/pets/${id}`)).body) as Pet).name).toBe(name);
    });
    await fc.assert(property, { numRuns: RUNS });
  });

  it('of any length is judged by its code points alone', async () => {
    const lengths = fc.tuple(fc.constantFrom('x', 'é', '語', '🐈'), fc.integer({ min: 250, max: 260 }));
    const property = fc.asyncProperty(lengths, async ([character, length]) => {
      const response = await createPet(api, JSON.stringify({ name: character.repeat(length), categoryId: 1 }));
      expect(response.status).toBe(length <= 255 ? 201 : 400);
    });
    await fc.assert(property, { numRuns: RUNS });
  });
});

describe('any bytes in a body', () => {
  it('the answer is 201 or a 400 of the registry', async () => {
    const bodies = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc.json({ maxDepth: 4 }).map((text) => Buffer.from(text)),
      fc.record({ name: fc.jsonValue(), categoryId: fc.jsonValue(), status: fc.jsonValue() }).map(jsonBytes),
    );
    const property = fc.asyncProperty(bodies, async (body) => {
      const response = await createPet(api, body);
      if (response.status === 201) return;
      const { code } = JSON.parse(response.body) as { readonly code: string };
      expectError(response, 400, code === 'invalid_json' ? 'invalid_json' : 'invalid_parameter');
    });
    await fc.assert(property, { numRuns: 3 * RUNS });
  });
});

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
