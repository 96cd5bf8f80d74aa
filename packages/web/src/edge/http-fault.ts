import { textOf, type Wording } from '@adoption-store/domain';

/** The codes of the faults, with their statuses. */
export const FAULT_STATUSES = {
  bad_request: 400,
  method_not_allowed: 405,
  request_timeout: 408,
  payload_too_large: 413,
  uri_too_long: 414,
  expectation_failed: 417,
  headers_too_large: 431,
} as const;

/** A request that breaks HTTP's own rules. Each app has its own response to it. */
export class HttpFault extends Error {
  override readonly name = 'HttpFault';
  /** Fastify sends an error with it. */
  readonly statusCode: number;

  constructor(
    readonly code: keyof typeof FAULT_STATUSES,
    readonly wording: string | Wording,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(textOf(wording));
    this.statusCode = FAULT_STATUSES[code];
  }
}
