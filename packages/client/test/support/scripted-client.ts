import { AdoptionStore, ApiError, type ClientOptions, type Clock } from '../../src/index.js';

export const KEY = 'aas_live_secret';
export const BASE = 'https://api.example/v1';
const REFUSAL = '{"code":"rate_limited","message":"too many requests","status":429}';

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly init: RequestInit;
}

/** A clock whose waits are over at once, except the time limits: those end with what they limit. */
export class PassingClock implements Clock {
  readonly waits: number[] = [];
  #now = 0;

  now(): number {
    return this.#now;
  }

  async wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (milliseconds >= LIMIT)
      return new Promise((_, reject) =>
        signal?.addEventListener('abort', () => {
          reject(new Error('over'));
        }),
      );
    this.waits.push(milliseconds);
    this.#now += milliseconds;
    await Promise.resolve();
    signal?.throwIfAborted();
  }
}

/** Default of `tryTimeout`. No wait of these tests is as long. */
const LIMIT = 30_000;

type Step = Response | Error | (() => Response);

/**
 * A client whose requests get these answers in turn, the last one repeatedly, and a record of its requests and waits.
 */
export function clientOf(steps: readonly Step[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = [];
  const clock = new PassingClock();
  const store = new AdoptionStore({
    baseUrl: BASE,
    apiKey: KEY,
    fetch: async (url, init) => {
      sent.push({ url: url.href, headers: new Headers(init.headers), init });
      const step = steps[Math.min(sent.length, steps.length) - 1];
      if (step instanceof Error) throw step;
      if (step === undefined) throw new Error('no answer is left');
      return step instanceof Response ? step.clone() : step();
    },
    clock,
    ...options,
  });
  return { store, sent, waits: clock.waits, clock };
}

export const refusal = (status: number, headers: Record<string, string> = {}, body = REFUSAL) =>
  new Response(body, { status, headers: { 'X-Request-Id': 'req-1', ...headers } });
export const pet = (headers: Record<string, string> = {}) =>
  new Response('[{"id":9223372036854775807,"name":"Luna","categoryId":1,"status":"sold"}]', { headers });
export const created = () => new Response('{"id":1,"name":"Luna","categoryId":1,"status":"sold"}', { status: 201 });
export const DISCONNECTED = new TypeError('fetch failed');

export const errorOf = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error('no ApiError', { cause: error });
  return error;
};
