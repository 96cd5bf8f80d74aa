import { expect } from '@jest/globals';
import type { PetStatus } from '@adoption-store/domain';
import type { TestApi } from './api.js';
import { bearer, get, petsOf } from './pets-client.js';
import { type RawResponse, request } from './raw-http.js';

export interface Order {
  readonly id: number;
  readonly petId: number;
  readonly status: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export const ORDERS = '/v1/store/orders';

/** Adds an animal and returns its id. */
export async function addPet(api: TestApi, status: PetStatus = 'available'): Promise<number> {
  const { id } = await api.application.addAnimal.execute({ name: 'Luna', categoryId: 1n, status });
  return Number(id);
}

/** The animal's status in GET /v1/pets. */
export async function petStatus(api: TestApi, petId: number): Promise<string | undefined> {
  return petsOf(await get(api, `/v1/pets?id=${petId}`))[0]?.status;
}

/** POST of a body, byte for byte, as `application/json`. */
export function postOrder(
  api: TestApi,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = { 'Content-Type': 'application/json' },
): Promise<RawResponse> {
  return request(api, ORDERS, { method: 'POST', headers: { ...bearer(api.key), ...headers }, body });
}

/** Orders the animal. Default key: the suite's. */
export function orderPet(api: TestApi, petId: number, key: string = api.key): Promise<RawResponse> {
  return postOrder(api, `{"petId":${petId}}`, { 'Content-Type': 'application/json', ...bearer(key) });
}

/** Places an order for a new animal. */
export async function placeOrder(api: TestApi, key?: string): Promise<Order> {
  return orderOf(await orderPet(api, await addPet(api), key), 201);
}

export type Ending = 'complete' | 'cancel';

/** Completes or cancels the order. Default key: the suite's. */
export function end(
  api: TestApi,
  ending: Ending,
  orderId: number | string,
  key: string = api.key,
): Promise<RawResponse> {
  return request(api, `${ORDERS}/${orderId}/${ending}`, { method: 'POST', headers: bearer(key) });
}

/** @param query for example `?limit=5` */
export function listOrders(api: TestApi, query = '', key?: string): Promise<RawResponse> {
  return get(api, `${ORDERS}${query}`, key);
}

export function orderOf(response: RawResponse, status = 200): Order {
  expect(response).toMatchObject({ status });
  return JSON.parse(response.body) as Order;
}

export function ordersOf(response: RawResponse): readonly Order[] {
  expect(response).toMatchObject({ status: 200 });
  return JSON.parse(response.body) as readonly Order[];
}
