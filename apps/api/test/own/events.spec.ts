import {
  type Animal,
  EVENT_TYPES,
  type Instant,
  type Message,
  MESSAGE_STATUSES,
  type Order,
  ORDER_STATUSES,
  PET_STATUSES,
  publishedData,
} from '@adoption-store/domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { presentAnimal, presentAnimals } from '../../src/animals/animal.schema.js';
import { presentPage } from '../../src/http/operations/pages.js';
import { presentMessage } from '../../src/messages/message.schema.js';
import { presentOrder, presentOrders } from '../../src/orders/order.schema.js';
import { useApi } from '../support/api.js';
import {
  addPet,
  bodyOf,
  changePet,
  end,
  get,
  MESSAGES,
  nextPageOf,
  ORDERS,
  placeOrder,
  post,
  withdrawPet,
} from '../support/client.js';
import { expectError } from '../support/expectations.js';
import type { RawResponse } from '../support/raw-http.js';

const EVENTS = '/v1/events';

interface Event {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly data: { readonly id: number | string };
}

const api = useApi();

/** The next page's path, which every page has. */
function next(response: RawResponse): string {
  const { pathname, search } = nextPageOf(response) ?? { pathname: 'no next page', search: '' };
  return pathname + search;
}

function eventsOf(response: RawResponse): readonly Event[] {
  return bodyOf(response) as readonly Event[];
}

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const text = fc.string({ unit: 'binary', size: 'medium' });
const time = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) });
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
/** Every field, also the optional ones. */
type Arbitraries<Entity> = { readonly [Field in keyof Entity]-?: fc.Arbitrary<unknown> };

const anyAnimal = fc.record({
  id: int64,
  name: text,
  categoryId: int64,
  status: fc.constantFrom(...PET_STATUSES),
} satisfies Arbitraries<Animal>) as fc.Arbitrary<Animal>;
const anyOrder = fc.record({
  id: int64,
  accountId: int64,
  animalId: int64,
  status: fc.constantFrom(...ORDER_STATUSES),
  createdAt: time,
  updatedAt: time,
} satisfies Arbitraries<Order>) as fc.Arbitrary<Order>;
const anyMessage = fc.record({
  id: text,
  accountId: int64,
  text,
  status: fc.constantFrom(...MESSAGE_STATUSES),
  createdAt: time as fc.Arbitrary<Instant>,
  traceparent: optional(text),
  requestId: optional(text),
} satisfies Arbitraries<Message>) as fc.Arbitrary<Message>;

it('the data of an event has the bytes of the API’s answer, alone and in a list, whatever the fields are', () => {
  const answers = fc.oneof(
    anyAnimal.map((data) => [
      publishedData({ type: 'pet.changed', data }),
      presentAnimal(data),
      presentAnimals([data]).slice(1, -1),
    ]),
    anyOrder.map((data) => [
      publishedData({ type: 'order.placed', data }),
      presentOrder(data),
      presentOrders([data]).slice(1, -1),
    ]),
    anyMessage.map((data) => [publishedData({ type: 'message.sent', data }), presentMessage(data)]),
  );
  const property = fc.property(answers, ([published, ...answered]) => {
    expect(answered).toEqual(answered.map(() => published));
  });
  fc.assert(property, { numRuns: 300 });
});

describe('GET /v1/events', () => {
  /** Goes on behind all that has happened before the test. */
  let from: string;
  beforeEach(async () => {
    let response = await get(api, `${EVENTS}?limit=100`);
    while (eventsOf(response).length > 0) response = await get(api, next(response));
    from = next(response);
  });

  it('shows what has happened at once, the resource byte for byte as a GET of it', async () => {
    const petId = await addPet(api);
    const bodies = [(await get(api, `/v1/pets/${petId}`)).body];
    bodies.push((await changePet(api, petId, { name: '"Łuna"\u0001🐈' })).body);
    const { id: orderId, petId: ordered } = await placeOrder(api);
    for (const path of [`${ORDERS}/${orderId}`, `/v1/pets/${ordered}`]) bodies.push((await get(api, path)).body);
    bodies.push((await end(api, 'complete', orderId)).body, (await get(api, `/v1/pets/${ordered}`)).body);
    const message = JSON.parse((await post(api, MESSAGES, { message: 'Hello\n"you"' })).body) as {
      readonly id: string;
    };
    await api.application.deliverMessages.execute();
    bodies.push((await get(api, `${MESSAGES}/${message.id}`)).body);
    await withdrawPet(api, petId);
    const { body } = await get(api, from);
    const events = JSON.parse(body) as readonly Event[];
    expect(events.map(({ type }) => type)).toEqual([
      ...['pet.added', 'pet.changed', 'pet.added', 'order.placed', 'pet.changed', 'order.completed', 'pet.changed'],
      ...['message.sent', 'pet.removed'],
    ]);
    for (const each of bodies) expect(body).toContain(`,"data":${each}}`);
    for (const event of events) expect(Object.keys(event)).toEqual(['id', 'type', 'sequence', 'createdAt', 'data']);
  });

  it('shows an account’s orders and messages to its own keys alone, and animals to all', async () => {
    const { key } = await api.openKey();
    const { petId } = await placeOrder(api);
    await post(api, MESSAGES, { message: 'Hello' });
    await api.application.deliverMessages.execute();
    const shown = eventsOf(await get(api, from, key)).map(({ type, data }) => [type, data.id]);
    expect(shown).toEqual([
      ['pet.added', petId],
      ['pet.changed', petId],
    ]);
  });

  it('has a next page always, also of an empty one, and a walk has each event once', async () => {
    let page = await get(api, from.replace('limit=100', 'limit=2'));
    expect(eventsOf(page)).toEqual([]);
    const added = [await addPet(api), await addPet(api), await addPet(api)];
    const walked: Event[] = [];
    do {
      page = await get(api, next(page));
      walked.push(...eventsOf(page));
    } while (eventsOf(page).length > 0);
    expect(walked.map(({ data }) => data.id)).toEqual(added);
  });

  it('narrows by type, once for each type, and keeps the filter in its link', async () => {
    await placeOrder(api);
    const both = await get(api, `${from}&type=pet.changed&type=order.placed`);
    expect(eventsOf(both).map(({ type }) => type)).toEqual(['order.placed', 'pet.changed']);
    expect(next(both)).toContain('type=pet.changed&type=order.placed&cursor=');
    const query = EVENT_TYPES.map((type) => `type=${type}`).join('&');
    expect(await get(api, `${EVENTS}?${query}`)).toMatchObject({ status: 200 });
    for (const wrong of ['type=', `${query}&type=pet.added`])
      expect(expectError(await get(api, `${EVENTS}?${wrong}`), 400, 'invalid_parameter')).toContain('type');
    const separated = await get(api, `${EVENTS}?type=pet.added,pet.changed`);
    expect(expectError(separated, 400, 'invalid_parameter')).toMatch(
      /; for several, repeat the parameter: type=pet\.added&type=pet\.changed$/,
    );
  });

  it('begins now or at a cursor that there is, not both', async () => {
    const refusal = async (path: string) => expectError(await get(api, path), 400, 'invalid_parameter');
    for (const query of ['limit=0', 'cursor=', 'cursor=cGV0czoy', 'from=', 'from=then', 'from=now&from=now'])
      expect(await refusal(`${EVENTS}?${query}`)).toMatch(/^(limit|cursor|from) must be /);
    expect(await refusal(`${from}&from=now`)).toBe("from can't be given with cursor");
  });

  it.each(['1', '1.2'])('answers a cursor of a time when cursors named no event 410: %s', async (position) => {
    const { next: query = '' } = presentPage('events', '', '[]', position);
    expectError(await get(api, `${EVENTS}?${query}`), 410, 'cursor_expired');
  });
});
