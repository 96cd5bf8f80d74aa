import { beforeAll } from '@jest/globals';

/** What a client needs of an API: where it is, and a key of an account with limits that no suite reaches. */
export interface Api {
  readonly host: string;
  readonly port: number;
  /** For example `http://127.0.0.1:41234`. */
  readonly origin: string;
  readonly key: string;
}

/**
 * The API that all these suites share, at which this one has an account of its own. Others' animals are in its lists, so
 * a suite narrows them by categories of its own.
 */
export function useSharedApi(): Api {
  const origin = process.env['TEST_SHARED_API'] ?? '';
  const { hostname: host, port } = new URL(origin);
  const api = { host, port: Number(port), origin, key: '' };
  beforeAll(async () => {
    [api.key] = await openKeys();
  });
  return api;
}

/** Two keys of a new account. */
export async function openKeys(): Promise<[one: string, other: string]> {
  const response = await fetch(process.env['TEST_SHARED_KEYS'] ?? '');
  return (await response.json()) as [string, string];
}

let categories = 0;

/** An id that no other suite uses for its animals. */
export function newCategoryId(): number {
  return (
    Number(process.env['JEST_WORKER_ID']) * 1_000_000_000_000 + (Date.now() % 1_000_000_000) * 1_000 + (categories += 1)
  );
}
