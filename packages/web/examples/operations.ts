// Samples of operations. The reference page shows each one, under its operation's id, after the lines up to the first id.
import { AdoptionStore } from '@adoption-store/client';

const store = new AdoptionStore(); // API_URL and API_KEY are in the environment

// listPets
for await (const { id, name } of store.pets.list({ name: 'mi', status: 'available' })) console.log(`${id} ${name}`);

// createPet
console.log(await store.pets.create({ name: 'Luna', categoryId: 1n }));

// getPet
console.log(await store.pets.get(1n));

// changePet
console.log(await store.pets.change(1n, { name: 'Bella' }));

// withdrawPet
console.log((await store.pets.remove(1n).withResponse()).response.status);

// listCategories
for await (const { id, name } of store.categories.list()) console.log(`${id} ${name}`);

// createCategory
console.log(await store.categories.create({ name: 'Birds' }));

// getCategory
console.log(await store.categories.get(1n));

// nameCategory
console.log(await store.categories.put(1n, { name: 'Big cats' }));

// deleteCategory
console.log((await store.categories.remove(1n).withResponse()).response.status);

// listOrders
for await (const order of store.orders.list({ status: 'placed' })) console.log(order);

// placeOrder
const order = await store.orders.create({ petId: 1n });
console.log(order);
console.log(await store.orders.cancel(order.id));

// getOrder
console.log(await store.orders.get(1n));

// completeOrder
console.log(await store.orders.complete(1n));

// cancelOrder
console.log(await store.orders.cancel(1n));

// queueMessage
console.log(await store.messages.create({ message: 'Is Luna still there?' }));

// getMessage
console.log(await store.messages.get('msg_1'));

// listWebhooks
for await (const { id, url, status } of store.webhooks.list()) console.log(`${id} ${url} ${status}`);

// createWebhook
console.log(await store.webhooks.create({ url: 'https://example.com/adoptions', types: ['pet.added'] }));

// getWebhook
console.log(await store.webhooks.get('whk_1'));

// changeWebhook
console.log(await store.webhooks.change('whk_1', { description: 'The website' }));

// deleteWebhook
console.log((await store.webhooks.remove('whk_1').withResponse()).response.status);

// rotateWebhookSecret
console.log((await store.webhooks.rotateSecret('whk_1')).secret);

// pingWebhook
console.log(await store.webhooks.ping('whk_1'));

// listDeliveries
for await (const { id, type, status } of store.webhooks.deliveries('whk_1')) console.log(`${id} ${type} ${status}`);

// retryDelivery
console.log(await store.webhooks.retry('whk_1', 'dlv_1'));

// recoverDeliveries
console.log(await store.webhooks.recover('whk_1', new Date('2026-11-21T12:00:00Z')));

// getRateLimit
console.log(await store.getRateLimit());

// listEvents
for await (const { type, createdAt } of store.events.follow()) console.log(`${createdAt} ${type}`);
