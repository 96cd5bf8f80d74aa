import { addPet, bearer, bodyOf, get, petsOf } from './pets-client.js';
import { type RawResponse, request } from './raw-http.js';
import type { Api } from './shared-api.js';

export { addPet };

type Headers = Readonly<Record<string, string>>;

const JSON_HEADERS = { 'Content-Type': 'application/json' };

export interface Order {
  readonly id: number;
  readonly petId: number;
  readonly status: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export const ORDERS = '/v1/store/orders';

/** The animal's status in GET /v1/pets. */
export async function petStatus(api: Api, petId: number): Promise<string | undefined> {
  return petsOf(await get(api, `/v1/pets?id=${petId}`))[0]?.status;
}

/** POST of a body, byte for byte, as `application/json`. */
export function postOrder(api: Api, body: string | Buffer, headers: Headers = JSON_HEADERS): Promise<RawResponse> {
  return request(api, ORDERS, { method: 'POST', headers: { ...bearer(api.key), ...headers }, body });
}

/** Orders the animal. Default key: the suite's. */
export function orderPet(api: Api, petId: number, key: string = api.key): Promise<RawResponse> {
  return postOrder(api, `{"petId":${petId}}`, { ...JSON_HEADERS, ...bearer(key) });
}

/** Places an order for a new animal. */
export async function placeOrder(api: Api, key?: string): Promise<Order> {
  return orderOf(await orderPet(api, await addPet(api), key), 201);
}

export type Ending = 'complete' | 'cancel';

/** Completes or cancels the order. Default key: the suite's. */
export function end(api: Api, ending: Ending, orderId: number | string, key: string = api.key): Promise<RawResponse> {
  return request(api, `${ORDERS}/${orderId}/${ending}`, { method: 'POST', headers: bearer(key) });
}

/** @param query for example `?limit=5` */
export function listOrders(api: Api, query = '', key?: string): Promise<RawResponse> {
  return get(api, `${ORDERS}${query}`, key);
}

export const orderOf = (response: RawResponse, status?: number) => bodyOf(response, status) as Order;
export const ordersOf = (response: RawResponse) => bodyOf(response) as readonly Order[];

export interface Category {
  readonly id: number;
  readonly name: string;
}

export const CATEGORIES = '/v1/categories';

/** A request with a body, byte for byte. */
export function sendCategory(
  api: Api,
  method: 'POST' | 'PUT',
  path: string,
  body: string,
  headers: Headers = JSON_HEADERS,
): Promise<RawResponse> {
  return request(api, path, { method, headers: { ...bearer(api.key), ...headers }, body });
}

export function addCategory(api: Api, name: string): Promise<RawResponse> {
  return sendCategory(api, 'POST', CATEGORIES, JSON.stringify({ name }));
}

export function nameCategory(api: Api, id: number | string, name: string, headers: Headers = {}): Promise<RawResponse> {
  return sendCategory(api, 'PUT', `${CATEGORIES}/${id}`, JSON.stringify({ name }), { ...JSON_HEADERS, ...headers });
}

export function getCategory(api: Api, id: number | string): Promise<RawResponse> {
  return get(api, `${CATEGORIES}/${id}`);
}

export function removeCategory(api: Api, id: number | string, headers: Headers = {}): Promise<RawResponse> {
  return request(api, `${CATEGORIES}/${id}`, { method: 'DELETE', headers: { ...bearer(api.key), ...headers } });
}

/** @param query for example `?limit=5` */
export function listCategories(api: Api, query = ''): Promise<RawResponse> {
  return get(api, `${CATEGORIES}${query}`);
}

export const categoryOf = (response: RawResponse, status?: number) => bodyOf(response, status) as Category;
export const categoriesOf = (response: RawResponse) => bodyOf(response) as readonly Category[];

export interface Message {
  readonly id: string;
  readonly message: string;
  readonly status: string;
  readonly createdAt: string;
}

export const MESSAGES = '/v1/messages';

/** POST of a body, byte for byte, as `application/json`. */
export function postMessage(api: Api, body: string | Buffer, headers: Headers = JSON_HEADERS): Promise<RawResponse> {
  return request(api, MESSAGES, { method: 'POST', headers: { ...bearer(api.key), ...headers }, body });
}

/** Sends the text. Default key: the suite's. */
export function writeMessage(api: Api, message: string, key: string = api.key): Promise<RawResponse> {
  return postMessage(api, JSON.stringify({ message }), { ...JSON_HEADERS, ...bearer(key) });
}

export const messageOf = (response: RawResponse, status?: number) => bodyOf(response, status) as Message;
