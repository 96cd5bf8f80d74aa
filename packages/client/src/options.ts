import { type Clock, systemClock } from './clock.js';
import type { ApiError } from './api-error.js';

/** A request that is about to be sent. */
export interface RequestInfo {
  /** Such as `GET /pets/{petId}`. */
  readonly operation: string;
  readonly url: string;
  /** 1 for the first try. */
  readonly tries: number;
  /** A hook may add some, such as `traceparent`. The API key isn't among them. */
  readonly headers: Headers;
}

/** How a try ended. */
export interface TryInfo extends Omit<RequestInfo, 'headers'> {
  /** The HTTP status; 0 if no response came. */
  readonly status: number;
  readonly requestId: string | undefined;
  /** Milliseconds since the request was sent. */
  readonly duration: number;
  readonly error: ApiError | undefined;
}

export interface ClientOptions {
  /** Base address of the API including `/v1`. Default: `API_URL` of the environment. */
  readonly baseUrl?: string | undefined;
  /** Default: `API_KEY` of the environment. */
  readonly apiKey?: string | undefined;
  /** Allows `http` beyond localhost, as to `http://api:3000/v1`: whoever is on the way can read the key. Default: false. */
  readonly allowHttp?: boolean | undefined;
  /** Most times a request is sent, 1 to 100; `events.follow` isn't bounded. Default: 5. */
  readonly maxTries?: number | undefined;
  /** Longest time that a call waits for limits and between its tries, in milliseconds. Default: 65,000, the longest wait for a new minute. */
  readonly maxWait?: number | undefined;
  /** Longest duration of one try, in milliseconds. Default: 30,000. */
  readonly tryTimeout?: number | undefined;
  /** Longest duration of a call, with all its tries and waits, in milliseconds. Default: none. */
  readonly timeout?: number | undefined;
  /** Most requests in flight at the same time, 1 to 1,000. Default: 16. */
  readonly maxInFlight?: number | undefined;
  /** Called before each try, for logs and traces. */
  readonly onRequest?: ((request: RequestInfo) => void) | undefined;
  /** Called after each try. */
  readonly onResponse?: ((outcome: TryInfo) => void) | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: ((url: URL, init: RequestInit) => Promise<Response>) | undefined;
  /** Used instead of the system's clock. */
  readonly clock?: Clock | undefined;
}

export interface CallOptions {
  /** Aborts the call, also while it waits. */
  readonly signal?: AbortSignal | undefined;
  /** Longest duration of this call, in milliseconds, instead of the client's. */
  readonly timeout?: number | undefined;
}

export interface PostOptions extends CallOptions {
  /** A POST with this key happens once, however often it is sent. Default: a random key for each call. */
  readonly idempotencyKey?: string | undefined;
}

export interface WriteOptions extends CallOptions {
  /** The call fails with `precondition_failed` unless the resource still has this entity tag. */
  readonly ifMatch?: string | undefined;
}

/** In milliseconds. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** The options with their defaults. @throws TypeError or RangeError that names the option and its rule. */
export function checked(options: ClientOptions) {
  // In browsers there is no `process`.
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const apiKey = options.apiKey ?? process?.env?.['API_KEY'] ?? '';
  if (apiKey === '') throw new TypeError('apiKey is missing: pass it, or set API_KEY');
  requireKey(apiKey);
  const { fetch: own, allowHttp = false } = options;
  return {
    base: baseOf(options.baseUrl ?? process?.env?.['API_URL'] ?? '', allowHttp),
    apiKey,
    maxTries: integer('maxTries', options.maxTries ?? 5, 1, 100),
    maxWait: integer('maxWait', options.maxWait ?? 65_000, 0, LONGEST_TIMER),
    tryTimeout: integer('tryTimeout', options.tryTimeout ?? 30_000, 1, LONGEST_TIMER),
    timeout: timeout(options.timeout),
    maxInFlight: integer('maxInFlight', options.maxInFlight ?? 16, 1, 1000),
    onRequest: options.onRequest,
    onResponse: options.onResponse,
    // Browsers throw if `fetch` is called as a method of another object, also if it is given.
    fetch: (url: URL, init: RequestInit) => (own ?? fetch)(url, init),
    clock: options.clock ?? systemClock,
  };
}

/** @throws RangeError if it isn't a duration that a timer can take. */
export function timeout(value: number | undefined): number | undefined {
  return value === undefined ? undefined : integer('timeout', value, 1, LONGEST_TIMER);
}

export function integer(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`${name} must be an integer from ${min} to ${max}`);
}

/** Checked here because fetch would quote the whole header in its error, as if the connection had failed. */
function requireKey(key: string): void {
  const [wrong] = /[^\x21-\x7e]/u.exec(key) ?? [];
  if (wrong === undefined) return;
  const code = `U+${wrong.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
  throw new TypeError(`apiKey (or API_KEY) has ${kindOf(wrong)} (${code}), which no key has`);
}

function kindOf(character: string): string {
  if (/[\r\n\u2028\u2029]/.test(character)) return 'a line end';
  if (/\s/.test(character)) return 'a blank';
  if (/[\p{C}\p{Default_Ignorable_Code_Point}]/u.test(character)) return 'an invisible character';
  return 'a character that is not ASCII';
}

function baseOf(text: string, allowHttp: boolean): URL {
  if (text === '') throw new TypeError('baseUrl is missing: pass it, or set API_URL');
  if (!URL.canParse(text)) throw new TypeError('baseUrl (or API_URL) is not a URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw new TypeError('baseUrl must have no user name');
  const isLocal = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  // Otherwise the key would be readable on the network.
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && (isLocal || allowHttp)))
    throw new TypeError('baseUrl must be https, except on localhost; allowHttp: true allows http');
  if (!/\/v1\/?$/.test(url.pathname)) throw new TypeError('baseUrl (or API_URL) must end in /v1');
  return url;
}
