import { MINUTE } from '@adoption-store/domain';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CategoriesController } from '../src/categories/categories.controller.js';
import { MessagesController } from '../src/messages/messages.controller.js';
import { PetsController } from '../src/pets/pets.controller.js';
import { stabilityOf } from '../src/stability/stability.js';
import { StoreOrdersController } from '../src/store/store-orders.controller.js';
import { useApi } from './support/api.js';
import { addCategory, CATEGORIES, nameCategory, removeCategory } from './support/categories-client.js';
import { messageOf, MESSAGES, postMessage, writeMessage } from './support/messages-client.js';
import { bearer, createPet, get, rawHead, sendOnce } from './support/pets-client.js';
import { type RawResponse, request } from './support/raw-http.js';
import { addPet, end, orderPet, ORDERS, placeOrder, postOrder } from './support/store-client.js';

const api = useApi();
let orderId: number;
let messageId: string;

beforeAll(async () => {
  orderId = (await placeOrder(api)).id;
  messageId = messageOf(await writeMessage(api, 'Hello'), 202).id;
});

// Each test has its own minute, so that no test uses up another's quota.
beforeEach(() => {
  api.clock.advance(MINUTE);
});

type Respond = () => Promise<RawResponse>;

async function overLimit(path: string): Promise<RawResponse> {
  const { key } = await api.openKey('free');
  for (let sent = 0; sent < 60; sent += 1) await get(api, path, key);
  return get(api, path, key);
}

function head(path: string): Promise<RawResponse> {
  return request(api, path, { method: 'HEAD', headers: bearer(api.key) });
}

describe('X-Stability is beta on the answer to', () => {
  it.each<[string, number, Respond]>([
    ['a list of orders', 200, () => get(api, ORDERS)],
    ['HEAD of a list of orders', 200, () => head(ORDERS)],
    ['an order', 200, () => get(api, `${ORDERS}/${orderId}`)],
    ['HEAD of an order', 200, () => head(`${ORDERS}/${orderId}`)],
    ['a new order', 201, async () => orderPet(api, await addPet(api))],
    ['completing', 200, async () => end(api, 'complete', (await placeOrder(api)).id)],
    ['cancelling', 200, async () => end(api, 'cancel', (await placeOrder(api)).id)],
    ['a list of categories', 200, () => get(api, CATEGORIES)],
    ['a new category', 201, () => addCategory(api, 'Cats')],
    ['a named category', 201, () => nameCategory(api, 66, 'Otters')],
    ['a removed category', 204, () => removeCategory(api, 66)],
    ['an unknown category', 404, () => removeCategory(api, 66)],
    ['a bad parameter', 400, () => get(api, `${ORDERS}?limit=0`)],
    ['a bad body', 400, () => postOrder(api, '{')],
    ['a bad Host', 400, () => sendOnce(api, rawHead(api, `GET ${ORDERS} HTTP/1.1`, [], ['Host: a b']))],
    ['a missing key', 401, () => request(api, ORDERS)],
    ['a bad key', 401, () => get(api, `${ORDERS}/1`, 'x')],
    ['an unknown order', 404, () => get(api, `${ORDERS}/999999`)],
    ['an animal that is not available', 409, async () => orderPet(api, await addPet(api, 'sold'))],
    ['too large a body', 413, () => postOrder(api, 'x'.repeat(65_537))],
    ['too long a URL', 414, () => get(api, `${ORDERS}?x=${'x'.repeat(9_000)}`)],
    ['a request over the limit', 429, () => overLimit(ORDERS)],
  ])('%s, %i', async (_case, status, respond) => {
    expect(await respond()).toMatchObject({ status, headers: { 'x-stability': 'beta' } });
  });
});

describe('X-Stability is experimental on the answer to', () => {
  it.each<[string, number, Respond]>([
    ['a new message', 202, () => writeMessage(api, 'Hello')],
    ['a message', 200, () => get(api, `${MESSAGES}/${messageId}`)],
    ['HEAD of a message', 200, () => head(`${MESSAGES}/${messageId}`)],
    ['a bad message', 400, () => postMessage(api, '{}')],
    ['a missing key', 401, () => request(api, `${MESSAGES}/1`)],
    ['an unknown message', 404, () => get(api, `${MESSAGES}/1`)],
    ['a request over the limit', 429, () => overLimit(`${MESSAGES}/1`)],
  ])('%s, %i', async (_case, status, respond) => {
    expect(await respond()).toMatchObject({ status, headers: { 'x-stability': 'experimental' } });
  });
});

describe('X-Stability is absent from the answer to', () => {
  it.each<[string, Respond]>([
    ['a list of animals', () => get(api, '/v1/pets')],
    ['a new animal', () => createPet(api, '{"name":"Luna","categoryId":1}')],
    ['an animal', () => get(api, '/v1/pets/1')],
    ['a bad parameter of animals', () => get(api, '/v1/pets?limit=0')],
    ['a request about limits', () => get(api, '/v1/rate_limit')],
    ['an unknown path', () => get(api, '/v1/store')],
  ])('%s', async (_case, respond) => {
    expect((await respond()).headers).not.toHaveProperty('x-stability');
  });
});

describe('the stability of a controller', () => {
  it('can be read from it', () => {
    const controllers = [CategoriesController, StoreOrdersController, MessagesController, PetsController];
    expect(controllers.map(stabilityOf)).toEqual(['beta', 'beta', 'experimental', undefined]);
  });
});
