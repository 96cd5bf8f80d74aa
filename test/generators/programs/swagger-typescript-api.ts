import { Api } from './generated/Api.js';
import { run } from './steps.js';

await run(Number, (baseUrl, key) => {
  const api = new Api({ baseUrl, baseApiParams: { headers: { Authorization: `Bearer ${key}` } } });
  return {
    list: async () => (await api.pets.listPets({})).data,
    add: async (body) => (await api.pets.createPet(body)).data,
    get: async (petId) => (await api.pets.getPet(petId)).data,
    order: async (petId) => (await api.store.placeOrder({ petId })).data,
  };
});
