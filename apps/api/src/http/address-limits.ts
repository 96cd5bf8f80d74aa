import type { HttpRefusal } from './error-codes.js';

/** A decision about a request: its limit headers, and the 429 if a limit is exceeded. */
export interface Judgement {
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: HttpRefusal | undefined;
}

/** The limits of requests without a valid key, which count against their address. `limits/` implements them. */
export abstract class AddressLimits {
  abstract countAddress(ip: string): Promise<Judgement>;

  /** What `countAddress` would decide, without counting a request. */
  abstract lookAtAddress(ip: string): Promise<Judgement>;
}
