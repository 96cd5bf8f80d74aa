export interface RawResponse {
  readonly status: number;
  /** Names in lower case; a header sent more than once is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** The body's bytes, chunking undone. */
  readonly body: string;
}
