import { randomInt } from 'node:crypto';
import { browsersAt } from './portal-visitor.js';

/**
 * The portal that all these suites share. Each signs up accounts of its own, and narrows the lists of animals to categories
 * of its own. No animal's id fits into a double.
 */
export const ORIGIN = process.env['TEST_SHARED_PORTAL'] ?? '';
export const portal = browsersAt(ORIGIN);

/** The address of the same store's API. */
export const API = process.env['TEST_SHARED_API'] ?? '';

/** A key without limits, of an account that no visitor has. */
export const STORE_KEY = process.env['TEST_SHARED_KEY'] ?? '';

const first = randomInt(2 ** 32) * 1_000;
let categories = 0;

/** An id that no other suite uses for its animals. */
export const newCategoryId = (): number => first + (categories += 1);

/** Calls the API. */
export function call(path: string, key = STORE_KEY, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return fetch(API + path, { ...init, headers });
}

/** Sends it to the API, and returns the id of what was made, as it is written. */
export async function make(path: string, body: object | string, key?: string): Promise<string> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await call(path, key, { method: 'POST', body: text });
  const made = await response.text();
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${made}`);
  return /"id":"?(\w+)/.exec(made)?.[1] ?? '';
}

export const addAnimal = (name: string, categoryId: number, status = 'available'): Promise<string> =>
  make('/v1/pets', { name, categoryId, status });

/** Names a category. */
export async function nameCategory(id: number, name: string): Promise<void> {
  const { status } = await call(`/v1/categories/${id}`, STORE_KEY, { method: 'PUT', body: JSON.stringify({ name }) });
  if (status >= 300) throw new Error(`the category ${id} is not named: ${status}`);
}

/** The name of a category, if it has one. */
export async function nameOf(id: number): Promise<string | undefined> {
  return ((await (await call(`/v1/categories/${id}`)).json()) as { readonly name?: string }).name;
}
