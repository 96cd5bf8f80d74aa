import { expect } from '@jest/globals';
import { type RawResponse, request, sendRaw } from './raw-http.js';
import type { Api } from './shared-api.js';

export interface Pet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: string;
}

export function bearer(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}

/** GET of a path. Default key: the suite's. */
export function get(api: Api, path: string, key: string = api.key): Promise<RawResponse> {
  return request(api, path, { headers: bearer(key) });
}

/** @param query for example `?limit=5` */
export function listPets(api: Api, query = ''): Promise<RawResponse> {
  return get(api, `/v1/pets${query}`);
}

/** POST of a body, byte for byte, as `application/json`. */
export function createPet(
  api: Api,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = { 'Content-Type': 'application/json' },
): Promise<RawResponse> {
  return request(api, '/v1/pets', { method: 'POST', headers: { ...bearer(api.key), ...headers }, body });
}

/** PATCH of an animal, as a JSON Merge Patch. */
export function changePet(
  api: Api,
  id: bigint | number | string,
  change: object | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawResponse> {
  const type = { 'Content-Type': 'application/merge-patch+json' };
  const body = typeof change === 'string' ? change : JSON.stringify(change);
  return request(api, `/v1/pets/${id}`, {
    method: 'PATCH',
    headers: { ...bearer(api.key), ...type, ...headers },
    body,
  });
}

export function withdrawPet(
  api: Api,
  id: bigint | number | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawResponse> {
  return request(api, `/v1/pets/${id}`, { method: 'DELETE', headers: { ...bearer(api.key), ...headers } });
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

/** Adds an animal and returns its id. */
export async function addPet(api: Api, status = 'available', categoryId = 1): Promise<number> {
  return petOf(await createPet(api, JSON.stringify({ name: 'Luna', categoryId, status })), 201).id;
}

/** The JSON of a response that has this status. */
export function bodyOf(response: RawResponse, status = 200): unknown {
  expect(response).toMatchObject({ status });
  return JSON.parse(response.body);
}

export const petOf = (response: RawResponse, status?: number) => bodyOf(response, status) as Pet;
/** The animals of a page. */
export const petsOf = (response: RawResponse) => bodyOf(response) as readonly Pet[];
export const idsOf = (response: RawResponse) => petsOf(response).map(({ id }) => id);

/** The digits of each categoryId as they were sent; a double could not hold them. */
export function categoryIdsOf(body: string): readonly string[] {
  return [...body.matchAll(/"categoryId":([^,}]+)/g)].map(([, digits]) => digits ?? '');
}

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
