import { ApiError, endOf, type FailedRequest, lossOf } from './api-error.js';
import { type Answer, Call, type ResponseInfo, responseInfo } from './call.js';
import { TimedOut, within } from './clock.js';
import { keyless, version } from './generated.js';
import { retryAfterOf, warnIfDeprecated } from './headers.js';
import { fromJson, isAnswer, toJson } from './json.js';
import { Limiter } from './limiter.js';
import {
  type CallOptions,
  checked,
  type ClientOptions,
  LONGEST_TIMER,
  type PostOptions,
  timeout,
  type WriteOptions,
} from './options.js';
import type { Request as CallOperation } from './request.js';
import { backOff, isPassing } from './retry.js';

/** Far more than any answer of the API. */
const MOST_BYTES = 10 * 1024 * 1024;

/** The operation that returns the limits doesn't count against them. */
const LIMITS = 'GET /rate_limit';

type Parameter = string | number | bigint | readonly (string | bigint)[] | undefined;
export type Query = Readonly<Record<string, Parameter>>;

export interface Sending extends CallOptions {
  readonly method: string;
  /** The path of the description, such as `/pets/{petId}`. */
  readonly path: string;
  readonly url: URL;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
  readonly ifMatch?: string | undefined;
  /** Address of the page, if a list is fetched. */
  readonly page?: string | undefined;
  /** The number of this try, if the caller itself sends it again. Undefined: it is sent again here. */
  readonly tries?: number | undefined;
}

interface OperationOptions extends PostOptions, WriteOptions {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Query | undefined;
  readonly body?: unknown;
}

interface Request extends FailedRequest {
  readonly operation: string;
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Whether it must not be sent again if it may have happened. */
  readonly isOnce: boolean;
}

type Tried =
  | { readonly error?: undefined; readonly data: unknown; readonly response: ResponseInfo }
  | { readonly error: ApiError; readonly data?: undefined; readonly response?: ResponseInfo };

/** Sends requests with the API key when the limits allow it, and repeats those that failed for a passing reason. */
export class Transport {
  readonly request: CallOperation = <Data>(method: string, path: string, options: OperationOptions = {}) => {
    const { path: parameters = {}, query = {}, ...rest } = options;
    const url = this.at(path, query, parameters);
    return new Call(this.send({ ...rest, method, path, url }) as Promise<Answer<Data>>);
  };

  // Private fields of JavaScript, so that neither console.log nor JSON shows the key.
  readonly #options: ReturnType<typeof checked>;
  readonly #limiter: Limiter;
  /** `LIMITS` has a limit of its own. */
  readonly #limiterOfLimits: Limiter;

  constructor(options: ClientOptions) {
    this.#options = checked(options);
    const { maxInFlight, clock } = this.#options;
    this.#limiter = new Limiter(maxInFlight, clock);
    this.#limiterOfLimits = new Limiter(maxInFlight, clock);
  }

  at(path: string, query: Query, parameters: Readonly<Record<string, unknown>> = {}): URL {
    const { base } = this.#options;
    const url = new URL(`${base.pathname.replace(/\/$/, '')}${filled(path, parameters)}`, base);
    for (const [name, value] of Object.entries(query))
      // Without a value, an empty list would be no filter. The API refuses an empty value.
      for (const each of isEmpty(value) ? [''] : [value].flat())
        if (each !== undefined) url.searchParams.append(name, String(each));
    return url;
  }

  /** Waits between requests that aren't urgent: longer while few are left. Resolves at once when the signal is aborted. */
  async pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#options;
    const wait = Math.min(Math.max(milliseconds, this.#limiter.pace()), LONGEST_TIMER);
    await within(clock, undefined, signal, (own) => clock.wait(wait, own)).catch(() => undefined);
  }

  /** @throws ApiError for every failure. Only an invalid argument is a TypeError or RangeError. */
  async send(sending: Sending): Promise<Answer<unknown>> {
    const request = requestOf(sending);
    const longest = timeout(sending.timeout) ?? this.#options.timeout;
    try {
      return await within(this.#options.clock, longest, sending.signal, (signal) =>
        this.#repeat(request, signal, sending.tries),
      );
    } catch (error) {
      // The reason may be any value, also the ApiError of another call.
      const isOver = error instanceof TimedOut || error === sending.signal?.reason;
      throw isOver ? endOf(request, error) : error;
    }
  }

  /** @param only the number of the only try. */
  async #repeat(request: Request, signal: AbortSignal, only: number | undefined): Promise<Answer<unknown>> {
    const { clock, maxWait } = this.#options;
    const maxTries = only ?? this.#options.maxTries;
    let waited = 0;
    let mayHaveHappened = false;
    let last: ApiError | undefined;
    for (let tries = only ?? 1; ; tries += 1) {
      waited += await this.#turn(request, maxWait - waited, signal, last);
      const { error, data, response } = await this.#try(request, tries, signal);
      if (error === undefined) return { data, response };
      // An earlier try has deleted it, and its response was lost.
      if (mayHaveHappened && request.method === 'DELETE' && error.code === 'not_found' && response !== undefined)
        return { data: undefined, response };
      mayHaveHappened ||= error.status !== 429;
      const wait = backOff(tries, error.retryAfter);
      if (!isPassing(error, request.method) || tries >= maxTries || waited + wait > maxWait) throw error;
      if (request.isOnce && mayHaveHappened) throw error;
      await clock.wait(wait, signal);
      waited += wait;
      last = error;
    }
  }

  /** Milliseconds until it is the request's turn. @throws the last try's error, if there is one and the wait is too long. */
  async #turn(request: Request, maxWait: number, signal: AbortSignal, last?: ApiError): Promise<number> {
    const { clock } = this.#options;
    const from = clock.now();
    try {
      await this.#limiterOf(request).enter(maxWait, signal);
      return clock.now() - from;
    } catch (reason) {
      if (signal.aborted) throw reason;
      // An earlier try was sent, so `wait_too_long` would be wrong.
      if (last) throw last;
      const retryAfter = (reason as TimedOut).needed;
      const when = retryAfter === undefined ? '' : `, in ${Math.ceil(retryAfter)} s`;
      const message = `not sent: its turn comes after maxWait${when}`;
      throw new ApiError({ ...request, code: 'wait_too_long', message, status: 0, retryAfter });
    }
  }

  async #try(request: Request, tries: number, signal: AbortSignal): Promise<Tried> {
    const { clock, tryTimeout, onRequest, onResponse } = this.#options;
    const { operation } = request;
    const url = request.url.href;
    const headers = new Headers(request.headers);
    tell(onRequest, { operation, url, tries, headers });
    const from = clock.now();
    let tried: Tried | undefined;
    try {
      tried = await within(clock, tryTimeout, signal, (each) => this.#fetch(request, headers, each));
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      // Anything else is an error of the program or of its environment, such as a `fetch` that isn't a function.
      if (!(cause instanceof TimedOut || cause instanceof ApiError)) throw cause;
      tried = { error: cause instanceof ApiError ? cause : endOf(request, cause) };
    } finally {
      this.#limiterOf(request).leave(operation === LIMITS ? undefined : tried?.response?.headers, tried?.error);
    }
    const { response, error } = tried;
    const { status = 0, requestId } = response ?? {};
    tell(onResponse, { operation, url, tries, status, requestId, duration: clock.now() - from, error });
    if (response !== undefined) warnIfDeprecated(operation, response.headers);
    return tried;
  }

  async #fetch(request: Request, headers: Headers, signal: AbortSignal): Promise<Tried> {
    const { method, body, url, operation } = request;
    headers.set('Authorization', `Bearer ${this.#options.apiKey}`);
    // No other server may get the key, and the API never redirects. No cookies: the key alone authenticates.
    const init = { method, body, headers, signal, redirect: 'manual', credentials: 'omit' } as const;
    const lost = (error: unknown) => {
      throw signal.aborted ? error : lossOf(request, error, this.#options.apiKey);
    };
    const received = await this.#options.fetch(url, init).catch(lost);
    const response = responseInfo(received);
    const failed = (text: string, reason = 'unexpected_response'): Tried => {
      // A server may repeat the request in its response, and with it the key.
      const [code = '', message = '', requestId, etag] = [reason, text, response.requestId, response.etag].map((each) =>
        each?.replaceAll(this.#options.apiKey, '…'),
      );
      const retryAfter = retryAfterOf(received.headers);
      return {
        error: new ApiError({ ...request, code, message, status: response.status, requestId, etag, retryAfter }),
        response,
      };
    };
    // In browsers a redirect has the status 0.
    if (!received.ok && received.status < 400) {
      await received.body?.cancel().catch(lost);
      return failed('the response is a redirect');
    }
    const bytes = await bytesOf(received, lost);
    if (bytes === undefined) return failed(`a response of over ${MOST_BYTES} bytes`, 'response_too_large');
    const data = valueOf(bytes);
    if (received.ok && isAnswer(operation, response.status, data)) return { data, response };
    const { code, message } = (data ?? {}) as { readonly code?: unknown; readonly message?: unknown };
    if (!received.ok && typeof code === 'string' && typeof message === 'string') return failed(message, code);
    return failed(`the response (status ${response.status}) is none of ${operation}`);
  }

  #limiterOf({ operation }: Request): Limiter {
    return operation === LIMITS ? this.#limiterOfLimits : this.#limiter;
  }
}

function requestOf({ method, path, url, body, idempotencyKey, ifMatch, page }: Sending): Request {
  const headers: Record<string, string> = {
    Accept: 'application/json',
    'User-Agent': `adoption-store-client/${version}`,
  };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (ifMatch !== undefined) headers['If-Match'] = ifMatch;
  const operation = `${method} ${path}`;
  const isKeyless = keyless.has(operation);
  const key = method === 'POST' && !isKeyless ? (idempotencyKey ?? randomKey()) : undefined;
  if (key !== undefined) headers['Idempotency-Key'] = key;
  // `fetch` would fail at each try, as with a broken connection.
  for (const [name, value] of Object.entries(headers))
    if (!/^[\x20-\x7e]+$/.test(value))
      throw new TypeError(`${name} ${value === '' ? 'is empty' : 'must be printable ASCII'}`);
  return {
    operation,
    url,
    method,
    headers,
    body: body === undefined ? null : toJson(body),
    // A lost try may have changed the entity tag. The next one would get 412, as if somebody else had changed it.
    isOnce: isKeyless || ifMatch !== undefined,
    idempotencyKey: key,
    page,
  };
}

/** `crypto.randomUUID` doesn't exist on a page of http. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The path with its parameters. */
export function filled(path: string, parameters: Readonly<Record<string, unknown>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(parameters[name])));
}

export function isEmpty(value: Parameter): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** The whole body; undefined if it is too large. @param lost throws the error of a body that breaks off. */
async function bytesOf({ body }: Response, lost: (error: unknown) => never): Promise<ArrayBuffer | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = body?.getReader();
  for (;;) {
    const part = await reader?.read().catch(lost);
    if (part?.value === undefined) break;
    chunks.push(part.value);
    size += part.value.byteLength;
    if (size > MOST_BYTES) {
      await reader?.cancel();
      return undefined;
    }
  }
  return new Blob(chunks).arrayBuffer();
}

/** The JSON value in these bytes; undefined if they aren't JSON. */
function valueOf(bytes: ArrayBuffer): unknown {
  try {
    return fromJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** Calls a hook. Its error is reported as uncaught, and doesn't change the call. */
function tell<Event>(hook: ((event: Event) => void) | undefined, event: Event): void {
  try {
    hook?.(event);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
