// Sends a message to the store. With its own Idempotency-Key it is sent once, even if the program is started again.
import { AdoptionStore } from '@adoption-store/client';

const store = new AdoptionStore(); // API_URL and API_KEY are in the environment

const options = { idempotencyKey: 'is-luna-still-there', signal: AbortSignal.timeout(30_000) };
const { id } = await store.messages.create({ message: 'Is Luna still there?' }, options);
const { message, status } = await store.messages.get(id);
console.log(`"${message}" is ${status}`);
