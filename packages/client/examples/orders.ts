// Orders an animal and completes the order. If another client ordered it first, the API answers 409.
import { AdoptionStore, ApiError } from '@adoption-store/client';

const store = new AdoptionStore(); // API_URL and API_KEY are in the environment

const luna = await store.pets.create({ name: 'Luna', categoryId: 9_223_372_036_854_775_807n });
const order = await store.orders.create({ petId: luna.id });
try {
  await store.orders.create({ petId: luna.id });
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.log(`${error.status} ${error.code}: ${error.message}`);
}
// It needs the scope `pets:manage` too. If your account lacks it, the store's operator completes the order.
const { status } = await store.orders.complete(order.id);
console.log(`the order is ${status}`);
for await (const { petId } of store.orders.list({ status: 'completed' })) console.log(`animal ${petId} was adopted`);
