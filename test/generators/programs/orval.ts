import { createPet, getPet, listPets, placeOrder } from './generated.js';
import { run } from './steps.js';

// orval writes the server's address into the code, so the program changes it.
await run(Number, (baseUrl, key) => {
  const options = { headers: { Authorization: `Bearer ${key}` } };
  const send = globalThis.fetch;
  globalThis.fetch = (input, init) => send(String(input).replace('http://generated.example/v1', baseUrl), init);
  return {
    list: async () => given(await listPets({}, options)),
    add: async (body) => given(await createPet(body, options)),
    get: async (petId) => given(await getPet(petId, options)),
    order: async (petId) => given(await placeOrder({ petId }, options)),
  };
});

function given<Answer extends { status: number; data: unknown }>(
  answer: Answer,
): Extract<Answer, { status: 200 | 201 }>['data'] {
  if (answer.status >= 300) throw new Error(String(answer.status));
  return answer.data as Extract<Answer, { status: 200 | 201 }>['data'];
}
