import { ok } from '@oazapfts/runtime';
import { createPet, getPet, listPets, placeOrder } from './generated.js';
import { run } from './steps.js';

await run(Number, (baseUrl, key) => {
  const options = { baseUrl, headers: { Authorization: `Bearer ${key}` } };
  return {
    list: () => ok(listPets({}, options)),
    add: (body) => ok(createPet(body, {}, options)),
    get: (petId) => ok(getPet(petId, {}, options)),
    order: (petId) => ok(placeOrder({ petId }, {}, options)),
  };
});
