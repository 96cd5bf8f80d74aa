import { AdoptionStore } from '@adoption-store/client';

const { API_URL: baseUrl = 'http://localhost:3000/v1', API_KEY: apiKey = '' } = process.env;
const store = new AdoptionStore({ baseUrl, apiKey });

const { items: some } = await store.pets({ status: 'available', limit: 2 }).page();
for (const { id, name } of some) console.log(`one page: ${id} ${name}`);
for await (const { id, name } of store.pets({ status: 'available' })) console.log(`all pages: ${id} ${name}`);

const order = await store.placeOrder({ petId: some[0]?.id ?? 1n });
console.log(`order ${order.id} of animal ${order.petId} is ${order.status}`);
