import { inspect } from 'node:util';
import { expect, it } from '@jest/globals';
import { AdoptionStore, ApiError, type ClientOptions } from '../../src/index.js';
import { VirtualClock } from '../support/virtual-clock.js';
import { HostileServer, json, type Step } from './hostile-server.js';

export const KEY = 'aas_test_SecretSecretSecretSecret012345';

/** The least wait before the nth request, in milliseconds: half of a bound that doubles, from 500 to 8,000. */
export const BACK_OFF: readonly number[] = [250, 500, 1000, 2000];

export interface Case {
  /** The behaviour of the server, in words. */
  readonly server: string;
  /** For each request what to do; the last is for all after it. */
  readonly steps: readonly Step[];
  /** Default: `getCategory(1n)`. */
  readonly call?: (store: AdoptionStore, clock: VirtualClock) => PromiseLike<unknown>;
  readonly options?: ClientOptions;
  /** How the call ends: with this value, or with an ApiError of this code that matches the rest. */
  readonly ends:
    { readonly value: unknown } | (Readonly<Record<'code' | 'kind', unknown>> & Readonly<Record<string, unknown>>);
  readonly requests: number;
  /** The server is closed before the call. */
  readonly isGone?: true;
  /** The least milliseconds between the requests. Default: the back-off. */
  readonly waits?: readonly number[];
}

export const CATS = { id: 1, name: 'Cats' };
/** The API's answer to the default call, and its value. */
export const cats = json(200, CATS);
export const CATS_VALUE = { value: { id: 1n, name: 'Cats' } };

const getCategory = (store: AdoptionStore) => store.getCategory(1n);

export const unexpected = (status: number) => ({
  code: 'unexpected_response',
  kind: 'unexpected_response',
  status,
});

/** Makes each case a test, with servers of its own, whose name is a row of a table. */
export function play(cases: readonly Case[]): void {
  it.each(cases.map((each) => [rowOf(each), each] as const))('%s', async (_, each) => {
    const { steps, call = getCategory, options = {}, ends, requests, isGone, waits = BACK_OFF } = each;
    const clock = new VirtualClock();
    const server = await HostileServer.start(steps, clock);
    const store = new AdoptionStore({ baseUrl: `${server.origin}/v1`, apiKey: KEY, clock, ...options });
    if (isGone) server.close();
    const outcome = await settled(call(store, clock));
    server.close();
    expect(outcome).toMatchObject('value' in ends ? ends : { error: ends });
    if ('value' in ends) expect(outcome).toEqual(ends);
    else expect(outcome).toEqual({ error: expect.any(ApiError) });
    expect(textsOf(outcome).filter((text) => text.includes(KEY))).toEqual([]);
    expect(server.strayed).toEqual([]);
    expect(server.received).toHaveLength(requests);
    for (const [index, { at, url, headers }] of server.received.entries()) {
      expect(url).toMatch(/^\/v1\//);
      expect(headers.authorization).toBe(`Bearer ${KEY}`);
      if (index > 0) expect(at - (server.received[index - 1]?.at ?? 0)).toBeGreaterThanOrEqual(waits[index - 1] ?? 0);
    }
    // A POST happens once, because each of its requests has the same key.
    const keys = server.received.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBeLessThanOrEqual(1);
    for (const { method } of server.received) expect(typeof keys[0]).toBe(method === 'POST' ? 'string' : 'undefined');
  });
}

function rowOf({ server, ends, requests, waits }: Case): string {
  const end = 'value' in ends ? 'a value' : typeof ends.code === 'string' ? ends.code : 'an ApiError';
  const after = waits === undefined ? '' : ` | ${waits.map((wait) => `${wait} ms`).join(', ')}`;
  return `${server.padEnd(60)} | ${end.padEnd(22)} | ${requests}${after}`;
}

async function settled(call: PromiseLike<unknown>): Promise<object> {
  try {
    return { value: await call };
  } catch (error) {
    return { error };
  }
}

/** All that a program could print of an outcome. */
function textsOf(outcome: object): string[] {
  const { error } = outcome as { error?: unknown };
  return [
    inspect(outcome, { depth: null, showHidden: true, getters: true }),
    ...(error instanceof Error ? [String(error), error.message, error.stack ?? '', JSON.stringify(error)] : []),
  ];
}
