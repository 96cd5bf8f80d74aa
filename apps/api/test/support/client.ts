import { expect } from '@jest/globals';
import { type RawResponse, request, sendRaw } from './raw-http.js';
import type { Api } from './shared-api.js';

type Headers = Readonly<Record<string, string>>;
type Id = bigint | number | string;

export interface Pet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: string;
}

export interface Order {
  readonly id: number;
  readonly petId: number;
  readonly status: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export const PETS = '/v1/pets';
export const ORDERS = '/v1/store/orders';
export const CATEGORIES = '/v1/categories';
export const MESSAGES = '/v1/messages';

export function bearer(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}

/** Default key: the suite's. */
export function get(api: Api, path: string, key: string = api.key): Promise<RawResponse> {
  return request(api, path, { headers: bearer(key) });
}

/** Sends a body as JSON: an object, or text and bytes as they are. Headers replace the usual ones. */
export function send(
  api: Api,
  method: string,
  path: string,
  body?: object | string | Buffer,
  headers: Headers = {},
): Promise<RawResponse> {
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const type: Headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
  return request(api, path, { method, headers: { ...bearer(api.key), ...type, ...headers }, body: bytes });
}

export function post(api: Api, path: string, body?: object | string | Buffer, headers?: Headers): Promise<RawResponse> {
  return send(api, 'POST', path, body, headers);
}

/** PATCH of an animal, as a JSON Merge Patch. */
export function changePet(api: Api, id: Id, change: object | string, headers?: Headers): Promise<RawResponse> {
  const type = { 'Content-Type': 'application/merge-patch+json' };
  return send(api, 'PATCH', `${PETS}/${id}`, change, { ...type, ...headers });
}

export function withdrawPet(api: Api, id: Id, headers?: Headers): Promise<RawResponse> {
  return send(api, 'DELETE', `${PETS}/${id}`, undefined, headers);
}

/** Adds an animal and returns its id. */
export async function addPet(api: Api, status = 'available', categoryId = 1): Promise<number> {
  return petOf(await post(api, PETS, { name: 'Luna', categoryId, status }), 201).id;
}

/** Orders the animal. Default key: the suite's. */
export function orderPet(api: Api, petId: number, key: string = api.key): Promise<RawResponse> {
  return post(api, ORDERS, { petId }, bearer(key));
}

/** Places an order for a new animal. */
export async function placeOrder(api: Api, key?: string): Promise<Order> {
  return orderOf(await orderPet(api, await addPet(api), key), 201);
}

export type Ending = 'complete' | 'cancel';

/** Completes or cancels the order. Default key: the suite's. */
export function end(api: Api, ending: Ending, orderId: number | string, key: string = api.key): Promise<RawResponse> {
  return post(api, `${ORDERS}/${orderId}/${ending}`, undefined, bearer(key));
}

/** A request line and headers. `Host` and the key are added unless they are given. */
export function rawHead(
  api: Api,
  requestLine: string,
  headers: readonly string[] = [],
  standard: readonly string[] = [`Host: ${api.host}:${api.port}`, `Authorization: Bearer ${api.key}`],
): string {
  return `${[requestLine, ...standard, ...headers].join('\r\n')}\r\n\r\n`;
}

/** Sends the bytes and returns the only response. */
export async function sendOnce(api: Api, bytes: string | Buffer): Promise<RawResponse> {
  const [response] = await sendRaw(api, bytes);
  if (!response) throw new Error('the connection was closed without an answer');
  return response;
}

/** The JSON of a response that has this status. */
export function bodyOf(response: RawResponse, status = 200): unknown {
  expect(response).toMatchObject({ status });
  return JSON.parse(response.body);
}

export const petOf = (response: RawResponse, status?: number) => bodyOf(response, status) as Pet;
export const petsOf = (response: RawResponse) => bodyOf(response) as readonly Pet[];
export const orderOf = (response: RawResponse, status?: number) => bodyOf(response, status) as Order;
/** The ids of a page. */
export const idsOf = (response: RawResponse) => petsOf(response).map(({ id }) => id);

/** The address of the next page from the `Link` header. */
export function nextPageOf({ headers }: RawResponse): URL | undefined {
  const { link } = headers;
  if (link === undefined) return undefined;
  expect(link).toMatch(/^<http:\/\/[^>]+>; rel="next"$/);
  return new URL(link.slice(1, link.indexOf('>')));
}

/** All pages from the first to the last, by following the `Link` headers. */
export async function walk(api: Api, first: string, key?: string): Promise<readonly RawResponse[]> {
  const responses: RawResponse[] = [];
  for (let path: string | undefined = first; path !== undefined;) {
    const response = await get(api, path, key);
    responses.push(response);
    const next = nextPageOf(response);
    path = next && `${next.pathname}${next.search}`;
  }
  return responses;
}
