/** The response to a call, besides its data. */
export interface ResponseInfo {
  readonly status: number;
  readonly requestId: string | undefined;
  /** Entity tag of the resource, for `ifMatch`. */
  readonly etag: string | undefined;
  /** Whether the API returns the stored response to an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean;
  /** The window of the limits with the fewest requests left, if the response has it. */
  readonly limits:
    | {
        readonly limit: number;
        readonly remaining: number;
        /** Unix time in seconds. */
        readonly reset: number;
      }
    | undefined;
  readonly headers: Headers;
}

export interface Answer<Data> {
  readonly data: Data;
  readonly response: ResponseInfo;
}

/** A call to the API: a promise of its data. `withResponse` gives its response too. */
export class Call<Data> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #answer: Promise<Answer<Data>>;

  constructor(answer: Promise<Answer<Data>>) {
    this.#answer = answer;
  }

  withResponse(): Promise<Answer<Data>> {
    return this.#answer;
  }

  then<Result = Data, Failure = never>(
    onData?: ((data: Data) => Result | PromiseLike<Result>) | null,
    onError?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#answer.then(({ data }) => data).then(onData, onError);
  }

  catch<Failure = never>(
    onError?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Data | Failure> {
    return this.then(undefined, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Data> {
    return this.then().finally(onEnd);
  }
}

export function responseInfo({ status, headers }: Response): ResponseInfo {
  const said = (name: string) => headers.get(name) ?? undefined;
  const [limit = 0, remaining = 0, reset = 0] = ['Limit', 'Remaining', 'Reset'].map((name) =>
    Number(said(`X-RateLimit-${name}`)),
  );
  return {
    status,
    requestId: said('X-Request-Id'),
    etag: said('ETag'),
    replayed: said('Idempotent-Replayed') === 'true',
    // A missing header is NaN, and a comparison with NaN is false.
    limits: limit >= remaining && reset > 0 ? { limit, remaining, reset } : undefined,
    headers,
  };
}
