import type { Account, AccountKey, ApiKey } from '@adoption-store/domain';

/** A key as it is stored, and what tells it from what it was before and will be. */
export interface StoredKey {
  readonly found: AccountKey;
  readonly version: string;
}

/** How long what the database has said is believed: within it a revocation acts, whatever becomes of its notification. */
export const TRUSTED_FOR = 1_000;

/**
 * A key as the database has told of it. Times are in whole milliseconds, which V8 keeps within the object: each request
 * reads them, of thousands of keys.
 */
export class KnownKey implements AccountKey {
  readonly account: Account;
  readonly key: ApiKey;
  // Nobody else sees these.
  readonly #version: string;
  #confirmedAt: number;
  #usedAt: number;
  #isDropped = false;

  constructor({ found: { account, key }, version }: StoredKey, confirmedAt: number, usedAt: number) {
    this.account = account;
    this.key = key;
    this.#version = version;
    this.#confirmedAt = confirmedAt;
    this.#usedAt = usedAt;
  }

  get version(): string {
    return this.#version;
  }

  get confirmedAt(): number {
    return this.#confirmedAt;
  }

  get usedAt(): number {
    return this.#usedAt;
  }

  get isDropped(): boolean {
    return this.#isDropped;
  }

  /** Notes that it is used; whether it is believed. */
  use(now: number): boolean {
    this.#usedAt = now;
    return !this.#isDropped && now - this.#confirmedAt < TRUSTED_FOR;
  }

  confirm(at: number): void {
    this.#confirmedAt = at;
  }

  /** It is never believed again, whoever holds it. */
  drop(): void {
    this.#isDropped = true;
  }
}
