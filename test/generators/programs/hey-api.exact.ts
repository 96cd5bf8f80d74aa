import { exactJson, fetchQuoted } from './exact.js';
import { client } from './generated/client.gen.js';
import { createPet, getPet, listPets, placeOrder } from './generated/sdk.gen.js';
import { run } from './steps.js';

await run(BigInt, (baseUrl, auth) => {
  client.setConfig({ auth, baseUrl, bodySerializer: exactJson.stringify, fetch: fetchQuoted });
  const set = { throwOnError: true } as const;
  return {
    list: async () => (await listPets(set)).data,
    add: async (body) => (await createPet({ ...set, body })).data,
    get: async (petId) => (await getPet({ ...set, path: { petId } })).data,
    order: async (petId) => (await placeOrder({ ...set, body: { petId } })).data,
  };
});
