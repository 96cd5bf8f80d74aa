import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { useApi } from '@adoption-store/api/testing/api';
import { AdoptionStore, ApiError } from '../src/index.js';
import { VirtualClock } from './support/virtual-clock.js';

const POSTS = 1_000;
const LOSSES = ['request not sent', 'headers lost', 'body cut', 'connection reset'] as const;

const api = useApi();
const seed = randomInt(2 ** 31);
const random = randomOf(seed);
const lost: Record<string, number> = {};

/** A proxy before the API that loses some requests and some answers. */
const proxy = createServer((client) => {
  const server = connect(api.port, api.host);
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
  client.on('data', (request) => {
    if (isLost('request not sent')) client.destroy();
    else server.write(request);
  });
  server.on('data', (answer: Buffer) => {
    if (isLost('headers lost')) client.destroy();
    else if (isLost('body cut')) client.end(answer.subarray(0, answer.length - 10));
    else if (isLost('connection reset')) reset(client, answer);
    else client.write(answer);
  });
});

function isLost(how: (typeof LOSSES)[number] | 'aborted by the caller'): boolean {
  if (random() > 0.15) return false;
  lost[how] = (lost[how] ?? 0) + 1;
  return true;
}

function reset(client: Socket, answer: Buffer): void {
  client.write(answer.subarray(0, Math.floor(random() * answer.length)), () => client.resetAndDestroy());
}

beforeAll(() => once(proxy.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => {
  proxy.close();
});

/** Adds the animal, however often its caller has to repeat that with the key of the error. */
async function add(store: AdoptionStore, name: string): Promise<number> {
  let idempotencyKey: string | undefined;
  for (let calls = 1; ; calls += 1) {
    const caller = new AbortController();
    if (isLost('aborted by the caller')) abortLater(caller, Math.floor(random() * 20));
    try {
      await store.createPet({ name, categoryId: 1n }, { idempotencyKey, signal: caller.signal });
      return calls;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      ({ idempotencyKey } = error);
    }
  }
}

/** Aborts after some turns of the event loop, so that each stage of a request is met. */
function abortLater(caller: AbortController, turns: number): void {
  if (turns === 0) caller.abort();
  else
    setImmediate(() => {
      abortLater(caller, turns - 1);
    });
}

it('1,000 POSTs whose answers are lost at random places, repeated with the error’s key, make 1,000 animals', async () => {
  const { port } = proxy.address() as AddressInfo;
  const options = { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: api.key, clock: new VirtualClock(), maxTries: 2 };
  const store = new AdoptionStore(options);
  const names = Array.from({ length: POSTS }, (_, index) => `Luna ${index}`);
  const calls = await Promise.all(names.map((name) => add(store, name)));

  const found: string[] = [];
  const undisturbed = new AdoptionStore({ baseUrl: `${api.origin}/v1`, apiKey: api.key });
  for await (const { name } of undisturbed.pets()) found.push(name);
  expect({ seed, found: found.sort() }).toEqual({ seed, found: names.sort() });
  for (const how of [...LOSSES, 'aborted by the caller']) expect(lost[how]).toBeGreaterThan(POSTS / 50);
  expect(calls.filter((count) => count > 1).length).toBeGreaterThan(POSTS / 50);
});

/** Random numbers from 0 to 1 that a seed repeats (mulberry32). */
function randomOf(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
