import { AdoptionStore, ApiError, type ClientOptions } from '../../src/index.js';
import { VirtualClock } from './virtual-clock.js';

export const KEY = 'aas_test_SecretSecretSecretSecret012345';
export const BASE = 'https://api.example/v1';
export const DISCONNECTED = new TypeError('fetch failed');

interface Sent {
  readonly at: number;
  readonly url: string;
  readonly headers: Headers;
  readonly init: RequestInit;
}

/** What a request gets: a response, or the error of its connection. One that is cut off must be made for each request. */
export type Answer = Response | Error | ((clock: VirtualClock) => Response | Promise<Response>);

/** A client whose requests get these answers in turn, the last one repeatedly, and a record of its requests. */
export function clientOf(answers: readonly Answer[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = [];
  const clock = new VirtualClock();
  const store = new AdoptionStore({
    baseUrl: BASE,
    apiKey: KEY,
    fetch: async (url, init) => {
      sent.push({ at: clock.now(), url: url.href, headers: new Headers(init.headers), init });
      const answer = answers[Math.min(sent.length, answers.length) - 1];
      if (answer === undefined) throw new Error('no answer is left');
      if (answer instanceof Error) throw answer;
      return answer instanceof Response ? answer.clone() : answer(clock);
    },
    clock,
    ...options,
  });
  return { store, sent, clock };
}

export const cats = () => new Response('{"id":1,"name":"Cats"}');
export const created = () => new Response('{"id":1,"name":"Luna","categoryId":1,"status":"sold"}', { status: 201 });
export const pet = (headers: Record<string, string> = {}) =>
  new Response('[{"id":9223372036854775807,"name":"Luna","categoryId":1,"status":"sold"}]', { headers });

/** The API's error. */
export const refusal = (status: number, headers: Record<string, string> = {}, code = 'a_code') =>
  new Response(JSON.stringify({ code, message: 'a test', status }), { status, headers });

/** Never comes. */
export const silence = (clock: VirtualClock) => {
  clock.stall();
  return new Promise<Response>(() => undefined);
};

export async function errorOf(call: PromiseLike<unknown>): Promise<ApiError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error('no ApiError', { cause: error });
  return error;
}
