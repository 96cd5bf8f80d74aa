import { ApiError, type ApiErrorCode } from './api-error.js';
import { fromJson, toJson } from './json.js';
import { jitter, retryAfterOf, wait } from './wait.js';

export interface ClientOptions {
  /** Base address of the API including `/v1`, such as `https://api.adoption-store.example/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Most times a request is sent, 1 or more. Default: 5. */
  readonly maxTries?: number;
  /** Longest total wait of one call between its tries, in milliseconds. Default: 60,000. */
  readonly maxWait?: number;
  /** Used instead of the global `fetch`. */
  readonly fetch?: (url: URL, init: RequestInit) => Promise<Response>;
  /** Used instead of a timer. It must reject when the signal is aborted. */
  readonly wait?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

export interface CallOptions {
  /** Aborts the call, also while it waits. `AbortSignal.timeout(ms)` limits its duration. */
  readonly signal?: AbortSignal | undefined;
}

export interface PostOptions extends CallOptions {
  /** A POST with this key happens once, however often it is sent. Default: a random key for each call. */
  readonly idempotencyKey?: string | undefined;
}

/** Methods whose repetition changes nothing more (RFC 9110 §9.2.2); a PATCH here sets values. */
export type WriteMethod = 'PATCH' | 'PUT' | 'DELETE';

export interface Answer {
  readonly body: unknown;
  readonly headers: Headers;
}

interface Sending {
  readonly url: URL;
  readonly init: {
    readonly method: 'GET' | 'POST' | WriteMethod;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  };
  readonly signal: AbortSignal | undefined;
}

/** Sends requests with the API key, and retries those that can be repeated safely. */
export class Transport {
  readonly base: URL;
  // A private field of JavaScript, so that neither console.log nor JSON shows it.
  readonly #apiKey: string;
  readonly #maxTries: number;
  readonly #maxWait: number;
  readonly #fetch: NonNullable<ClientOptions['fetch']>;
  readonly #wait: NonNullable<ClientOptions['wait']>;

  constructor(options: ClientOptions) {
    this.base = baseOf(options.baseUrl);
    // Checked here because fetch would quote the whole header in its error.
    if (!/^[\x21-\x7e]+$/.test(options.apiKey)) throw new TypeError('apiKey is not an API key');
    this.#apiKey = options.apiKey;
    this.#maxTries = options.maxTries ?? 5;
    this.#maxWait = options.maxWait ?? 60_000;
    // Browsers throw if `fetch` is called as a method of another object.
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#wait = options.wait ?? wait;
  }

  /** @param url built with `at`, or a link of the API that the caller has checked. */
  get(url: URL, { signal }: CallOptions = {}): Promise<Answer> {
    return this.#send({ url, init: { method: 'GET' }, signal });
  }

  post(path: string, body: unknown, { idempotencyKey, signal }: PostOptions = {}): Promise<Answer> {
    const headers: Record<string, string> = { 'Idempotency-Key': idempotencyKey ?? crypto.randomUUID() };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const init = { method: 'POST' as const, headers, ...(body === undefined ? {} : { body: toJson(body) }) };
    return this.#send({ url: this.at(path), init, signal });
  }

  write(method: WriteMethod, path: string, body: unknown, { signal }: CallOptions = {}): Promise<Answer> {
    const content = body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: toJson(body) };
    return this.#send({ url: this.at(path), init: { method, ...content }, signal });
  }

  at(path: string): URL {
    return new URL(`${this.base.pathname.replace(/\/$/, '')}${path}`, this.base);
  }

  /** Every request is safe to repeat: a GET changes nothing, a write sets values, and each POST has an Idempotency-Key. */
  async #send(sending: Sending): Promise<Answer> {
    let waited = 0;
    let mayBeDeleted = false;
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#try(sending);
      if (!(outcome instanceof ApiError)) return outcome;
      // The deletion whose response was lost may have happened.
      if (mayBeDeleted && outcome.code === 'not_found') return { body: undefined, headers: new Headers() };
      mayBeDeleted ||= sending.init.method === 'DELETE' && outcome.code === 'network_error';
      const pause = outcome.retryAfter === undefined ? jitter(tries) : outcome.retryAfter * 1000;
      if (!isPassing(outcome) || tries >= this.#maxTries || waited + pause > this.#maxWait) throw outcome;
      await this.#wait(pause, sending.signal);
      waited += pause;
    }
  }

  async #try({ url, init, signal }: Sending): Promise<Answer | ApiError> {
    const headers = { Accept: 'application/json', Authorization: `Bearer ${this.#apiKey}`, ...init.headers };
    let response: Response;
    let text: string;
    try {
      // The API never redirects, and no other server may get the key. No cookies: the key alone authenticates.
      const request = { ...init, headers, redirect: 'error', credentials: 'omit', signal: signal ?? null } as const;
      response = await this.#fetch(url, request);
      text = await response.text();
    } catch (error) {
      signal?.throwIfAborted();
      const message = 'the connection failed before a complete response arrived';
      return new ApiError({ code: 'network_error', message, status: 0, cause: error });
    }
    if (response.status === 204) return { body: undefined, headers: response.headers };
    const body = bodyOf(text);
    return response.ok && body !== undefined ? { body, headers: response.headers } : this.#errorOf(response, body);
  }

  #errorOf({ status, headers }: Response, body: unknown): ApiError {
    const said = (typeof body === 'object' ? body : null) as { code?: unknown; message?: unknown } | null;
    const isOurs = typeof said?.code === 'string' && typeof said.message === 'string';
    return new ApiError({
      code: isOurs ? (said.code as ApiErrorCode) : 'unexpected_response',
      // A server may quote the request in its answer.
      message: isOurs
        ? (said.message as string).replaceAll(this.#apiKey, '…')
        : `an unexpected response with status ${status}`,
      status,
      requestId: headers.get('X-Request-Id') ?? undefined,
      retryAfter: retryAfterOf(headers),
    });
  }
}

function baseOf(text: string): URL {
  if (!URL.canParse(text)) throw new TypeError('baseUrl is not a URL');
  const url = new URL(text);
  const isLocal = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
    throw new TypeError('baseUrl must be https, except on localhost: the key would be readable on the network');
  return url;
}

/** Whether the same request may succeed later. */
function isPassing({ code, status }: ApiError): boolean {
  return code === 'network_error' || code === 'idempotency_key_in_use' || status === 429 || status === 503;
}

function bodyOf(text: string): unknown {
  try {
    return fromJson(text);
  } catch {
    return undefined;
  }
}
