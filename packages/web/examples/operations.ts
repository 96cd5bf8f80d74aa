// Samples of operations. The reference page shows each one, under its operation's id, after the lines up to the first id.
import { AdoptionStore } from '@adoption-store/client';

const store = new AdoptionStore(); // API_URL and API_KEY are in the environment

// listPets
for await (const { id, name } of store.pets.list({ status: 'available' })) console.log(`${id} ${name}`);

// createPet
const added = await store.pets.create({ name: 'Luna', categoryId: 1n });
console.log(`${added.name} is animal ${added.id}`);

// getPet
const pet = await store.pets.get(1n);
console.log(`${pet.id} is ${pet.name}, ${pet.status}`);

// changePet
// The key needs the scope pets:manage.
const changed = await store.pets.change(1n, { name: 'Bella' });
console.log(`${changed.id} is ${changed.name}`);

// placeOrder
const order = await store.orders.create({ petId: 1n });
console.log(`order ${order.id} is ${order.status}`);

// listEvents
for await (const { type, createdAt } of store.events.follow()) console.log(`${createdAt} ${type}`);
