import createClient from 'openapi-fetch';
import type { paths } from './generated.js';
import { run } from './steps.js';

await run(Number, (baseUrl, key) => {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
  return {
    list: async () => given(await client.GET('/pets')),
    add: async (body) => given(await client.POST('/pets', { body })),
    get: async (petId) => given(await client.GET('/pets/{petId}', { params: { path: { petId } } })),
    order: async (petId) => given(await client.POST('/store/orders', { body: { petId } })),
  };
});

function given<Data>({ data, error }: { data?: Data; error?: { code: string } }): Data {
  if (data === undefined) throw new Error(error?.code);
  return data;
}
