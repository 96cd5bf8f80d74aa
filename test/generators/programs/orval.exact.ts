import { createPet, getPet, listPets, placeOrder } from './generated.js';
import { server } from './orval.request.js';
import { run } from './steps.js';

await run(BigInt, (baseUrl, key) => {
  Object.assign(server, { baseUrl, key });
  return { list: () => listPets(), add: createPet, get: getPet, order: (petId) => placeOrder({ petId }) };
});
