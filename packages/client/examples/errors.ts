// Adds an animal exactly once, whatever happens on the way: an error says with which key to repeat the POST.
import { AdoptionStore, ApiError, type Pet } from '@adoption-store/client';

const store = new AdoptionStore({ timeout: 20_000 });

async function addOnce(name: string): Promise<Pet> {
  let idempotencyKey: string | undefined;
  for (;;)
    try {
      return await store.pets.create({ name, categoryId: 1n }, { idempotencyKey });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The animal may have been added, though its response was lost. Store this key if the program may end here.
      ({ idempotencyKey } = error);
      if (error.kind !== 'network' && error.kind !== 'timeout' && error.kind !== 'server') throw error;
      console.error(`${error.code}: ${error.message}; trying again`);
    }
}

const { id, name } = await addOnce('Luna');
console.log(`${name} is animal ${id}`);

try {
  await store.orders.get(404n);
} catch (error) {
  if (!(error instanceof ApiError) || error.kind !== 'not_found') throw error;
  console.log(`${error.status} ${error.code}`);
}

const { data, response } = await store.getRateLimit().withResponse();
console.log(`${data.minute.remaining} requests left, status ${response.status}`);
