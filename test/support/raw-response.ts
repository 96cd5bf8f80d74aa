export interface RawResponse {
  readonly status: number;
  /** Names are in lower case. Repeated headers are joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** The body's bytes without chunking. */
  readonly body: string;
}
