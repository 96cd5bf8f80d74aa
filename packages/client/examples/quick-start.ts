import { AdoptionStore } from '@adoption-store/client';

const store = new AdoptionStore(); // API_URL and API_KEY are in the environment

const { items: some } = await store.pets.list({ status: 'available', limit: 2 }).page();
for (const { id, name } of some) console.log(`one page: ${id} ${name}`);
for await (const { id, name } of store.pets.list({ status: 'available' })) console.log(`all pages: ${id} ${name}`);

const order = await store.orders.create({ petId: some[0]?.id ?? 1n });
console.log(`order ${order.id} of animal ${order.petId} is ${order.status}`);
