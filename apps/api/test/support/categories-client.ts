import { expect } from '@jest/globals';
import type { TestApi } from './api.js';
import { bearer, get } from './pets-client.js';
import { type RawResponse, request } from './raw-http.js';

export interface Category {
  readonly id: number;
  readonly name: string;
}

type Headers = Readonly<Record<string, string>>;

export const CATEGORIES = '/v1/categories';
const JSON_HEADERS = { 'Content-Type': 'application/json' };

/** A request with a body, byte for byte. */
export function sendCategory(
  api: TestApi,
  method: 'POST' | 'PUT',
  path: string,
  body: string,
  headers: Headers = JSON_HEADERS,
): Promise<RawResponse> {
  return request(api, path, { method, headers: { ...bearer(api.key), ...headers }, body });
}

export function addCategory(api: TestApi, name: string): Promise<RawResponse> {
  return sendCategory(api, 'POST', CATEGORIES, JSON.stringify({ name }));
}

export function nameCategory(
  api: TestApi,
  id: number | string,
  name: string,
  headers: Headers = {},
): Promise<RawResponse> {
  return sendCategory(api, 'PUT', `${CATEGORIES}/${id}`, JSON.stringify({ name }), { ...JSON_HEADERS, ...headers });
}

export function getCategory(api: TestApi, id: number | string): Promise<RawResponse> {
  return get(api, `${CATEGORIES}/${id}`);
}

export function removeCategory(api: TestApi, id: number | string, headers: Headers = {}): Promise<RawResponse> {
  return request(api, `${CATEGORIES}/${id}`, { method: 'DELETE', headers: { ...bearer(api.key), ...headers } });
}

/** @param query for example `?limit=5` */
export function listCategories(api: TestApi, query = ''): Promise<RawResponse> {
  return get(api, `${CATEGORIES}${query}`);
}

export function categoryOf(response: RawResponse, status = 200): Category {
  expect(response).toMatchObject({ status });
  return JSON.parse(response.body) as Category;
}

export function categoriesOf(response: RawResponse): readonly Category[] {
  expect(response).toMatchObject({ status: 200 });
  return JSON.parse(response.body) as readonly Category[];
}
