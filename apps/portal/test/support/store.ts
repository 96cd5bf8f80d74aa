import { beforeAll } from '@jest/globals';
import { INT64_MAX, plan } from '@adoption-store/domain';
import { ask } from '@adoption-store/test-support';
import { usePortal } from './portal.js';

/** The portal and the API of a suite's store. No animal's id fits into a double. */
export const portal = usePortal({ servesApi: true });

/** A key without limits, of an account that no visitor has. */
let storeKey = '';
let categories = 1_000;

beforeAll(async () => {
  const { application, clock, databaseUrl } = portal;
  // Within a minute, not at its begin.
  clock.advance(20_000);
  await ask(databaseUrl, `ALTER SEQUENCE animals_id_seq RESTART ${2n ** 53n + 1n} INCREMENT 2`);
  await application.addAnimal.execute({ name: 'Rex', categoryId: INT64_MAX, status: 'available' });
  const limits = plan('enterprise', { perMinute: 1_000_000, perDay: 1_000_000 });
  const { id: accountId } = await application.openAccount.execute({ email: 'store@example.com', plan: limits });
  storeKey = (await application.issueKey.execute({ accountId })).text;
});

/** The settings of the quick starts. */
export const settingsOf = (key = storeKey) => ({ API_URL: `${portal.api}/v1`, API_KEY: key });

/** An id that no other test uses for its animals. */
export const newCategoryId = (): number => (categories += 1);

/** Calls the API. */
export function call(path: string, key = storeKey, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return fetch(portal.api + path, { ...init, headers });
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
  const { status } = await call(`/v1/categories/${id}`, undefined, { method: 'PUT', body: JSON.stringify({ name }) });
  if (status >= 300) throw new Error(`the category ${id} is not named: ${status}`);
}

/** The name of a category, if it has one. */
export async function nameOf(id: number): Promise<string | undefined> {
  return ((await (await call(`/v1/categories/${id}`)).json()) as { readonly name?: string }).name;
}
