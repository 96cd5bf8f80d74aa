import { MINUTE } from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { description } from '../src/openapi/description.js';
import { useApi } from './support/api.js';
import { expectError } from './support/expectations.js';
import { bearer, createPet, get, listPets } from './support/pets-client.js';
import { request } from './support/raw-http.js';

const api = useApi();

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

const paths = description['paths'] as Readonly<Record<string, Readonly<Record<string, object>>>>;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path: path.replace(/\{\w+\}/, '1'),
    types: Object.keys((operation as { requestBody?: { content?: object } }).requestBody?.content ?? {}),
  })),
);

describe('an unknown query parameter', () => {
  it.each(operations)('of $method $path is refused and named', async ({ method, path, types: [type] }) => {
    const headers = { ...bearer(api.key), ...(type !== undefined && { 'Content-Type': type }) };
    const body = type === undefined ? undefined : '{}';
    const response = await request(api, `/v1${path}?stauts=sold`, { method, headers, ...(body && { body }) });
    expect(expectError(response, 400, 'invalid_parameter')).toMatch(
      /^"stauts" is not a query parameter of this operation, (?:only .*|which has none)$/,
    );
  });

  it.each([
    ['given twice', 'colour=black&colour=white', 'colour'],
    ['of another case', 'LIMIT=1', 'LIMIT'],
    ['of an array', 'id[]=1', 'id[]'],
    ['that is only called so inside', 'ids=1', 'ids'],
    ['after, which is the cursor inside', 'after=1', 'after'],
    ['__proto__', '__proto__=1', '__proto__'],
    ['constructor', 'constructor=1', 'constructor'],
    ['toString', 'toString=1', 'toString'],
    ['without a value', 'colour', 'colour'],
    ['without a name', '=1', ''],
    ['with encoded letters', '%63olour=1', 'colour'],
    ['beside a wrong limit', 'limit=0&colour=1', 'colour'],
    ['with quotes', 'a"b=1', 'a\\"b'],
  ])('%s is refused and named', async (_case, query, name) => {
    const message = expectError(await listPets(api, `?${query}`), 400, 'invalid_parameter');
    expect(message.startsWith(`"${name}" is not a query parameter`)).toBe(true);
  });

  it('is shown with its first 50 characters', async () => {
    const message = expectError(await listPets(api, `?${'x'.repeat(7_000)}=1`), 400, 'invalid_parameter');
    expect(message.length).toBeLessThan(200);
  });

  it('is refused whether or not the same query was refused before', async () => {
    for (let time = 0; time < 3; time += 1) expectError(await listPets(api, '?colour=1'), 400, 'invalid_parameter');
  });

  it('is refused after a missing key, an unknown path and a wrong media type', async () => {
    expectError(await get(api, '/v1/pets?colour=1', 'x'), 401, 'invalid_api_key');
    expectError(await get(api, '/v1/cats?colour=1'), 404, 'not_found');
    expectError(
      await request(api, '/v1/pets?colour=1', { method: 'PUT', headers: bearer(api.key) }),
      405,
      'method_not_allowed',
    );
    const headers = { ...bearer(api.key), 'Content-Type': 'text/plain' };
    const response = await request(api, '/v1/pets?colour=1', { method: 'POST', headers, body: '{}' });
    expectError(response, 400, 'unsupported_media_type');
    expect(await createPet(api, '{"name":"Luna","categoryId":1}')).toMatchObject({ status: 201 });
  });

  it.each(['?', '?&', '?&&limit=1&'])('is not what %s has', async (query) => {
    expect(await listPets(api, query)).toMatchObject({ status: 200 });
  });
});
