// A stranger's program. It uses each export of the client, and is compiled both as an ES module and as CommonJS.
import {
  AdoptionStore,
  type Answer,
  ApiError,
  type ApiErrorCode,
  type ApiErrorKind,
  type Call,
  type CallOptions,
  type Category,
  type CategoryQuery,
  type ClientOptions,
  type Clock,
  type Message,
  type NewCategory,
  type NewMessage,
  type NewOrder,
  type NewPet,
  type Order,
  type OrderQuery,
  type OrderStatus,
  type Page,
  type Pages,
  type Pet,
  type PetPatch,
  type PetQuery,
  type PetStatus,
  type PostOptions,
  type RateLimit,
  type RequestInfo,
  type ResponseInfo,
  type TryInfo,
  type WriteOptions,
} from '@adoption-store/client';

const answer = '[{"id":9223372036854775807,"name":"Luna","categoryId":1,"status":"available"}]';
const clock: Clock = { now: () => 0, wait: () => new Promise(() => undefined) };
const watch = {
  onRequest: ({ operation, headers }: RequestInfo) => {
    headers.set('X-Operation', operation);
  },
  onResponse: ({ status, duration }: TryInfo): number => status + duration,
};
const options: ClientOptions = {
  ...watch,
  clock,
  baseUrl: 'https://api.adoption-store.example/v1',
  apiKey: 'a-key',
  maxTries: 1,
  fetch: () => Promise.resolve(new Response(answer, { headers: { 'Content-Type': 'application/json' } })),
};
const store = new AdoptionStore(options);

// Compiled, never called: each method with its types.
export async function useAll(call: CallOptions, post: PostOptions, write: WriteOptions): Promise<unknown> {
  const status: PetStatus = 'available';
  const query: PetQuery = { status, limit: 2, id: [1n, 2n] };
  const pets: Pages<Pet> = store.pets(query, call);
  for await (const { id, name } of pets) if (id > 1n) return name.length;
  for await (const { next } of pets.pages()) if (next !== undefined) return pets.from(next).page();
  const pet: NewPet = { name: 'Luna', categoryId: 1n };
  const patch: PetPatch = { name: 'Milo' };
  const { id: petId } = await store.createPet(pet, post);
  const changing: Call<Pet> = store.changePet(petId, patch, write);
  const { data: changed, response }: Answer<Pet> = await changing.withResponse();
  const { etag, limits, replayed }: ResponseInfo = response;
  await store.withdrawPet(petId, { ifMatch: etag });
  const deprecated: Pet = await store.request('GET', '/pets/{petId}', { path: { petId }, ...call });
  const categories: CategoryQuery = { limit: 1 };
  const category: NewCategory = { name: 'Cats' };
  const page: Page<Category> = await store.categories(categories).page();
  const { id: categoryId } = await store.createCategory(category, post);
  await store.nameCategory(categoryId, category, write);
  await store.getCategory(categoryId, call);
  await store.removeCategory(categoryId, call);
  const order: NewOrder = { petId };
  const placed: Order = await store.placeOrder(order, post);
  // A response may have a status of a later version, a request may not.
  const told: Order['status'] = placed.status;
  const orderStatus: OrderStatus = 'placed';
  const orders: OrderQuery = { status: orderStatus };
  await store.orders(orders).page();
  await store.getOrder(placed.id, call);
  await store.completeOrder(placed.id, post);
  await store.cancelOrder(placed.id, post);
  const message: NewMessage = { message: 'Hello' };
  const queued: Message = await store.queueMessage(message, post);
  await store.getMessage(queued.id);
  const limit: RateLimit = await store.getRateLimit(call);
  return [changed.status, told, page.next, limit.minute.remaining, limits?.remaining, replayed, deprecated.name];
}

export function codeOf(error: unknown): ApiErrorCode | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const kind: ApiErrorKind = error.kind;
  return kind === 'network' ? error.idempotencyKey : error.code;
}

void store
  .pets()
  .page()
  .then(({ items }) => {
    for (const { id, name } of items) console.log(`${id} ${name}`);
  });
