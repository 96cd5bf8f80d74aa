import type { Password } from '../../accounts/sign-in/password.js';
import type { AnimalId } from '../../animals/animal.js';
import type { Ports } from '../../application.js';
import type { PublishedEvent } from '../../events/event.js';
import type { Transaction } from '../../kernel/transaction.js';
import type { OrderStatus } from '../../orders/order.js';

/** The parts of a test framework that the suites use. Jest's and Vitest's functions fit. */
export interface TestFramework {
  readonly describe: (name: string, suite: () => void) => void;
  readonly it: (guarantee: string, test: () => Promise<void> | void) => void;
  readonly beforeAll: (hook: () => Promise<void> | void) => void;
  readonly beforeEach: (hook: () => Promise<void> | void) => void;
  readonly afterEach: (hook: () => Promise<void> | void) => void;
  readonly afterAll: (hook: () => Promise<void> | void) => void;
  readonly expect: (actual: unknown) => Expectation;
  /** Waits for some seconds until the condition is true, and fails if it never is. */
  readonly until: (isTrue: () => Promise<boolean> | boolean) => Promise<void>;
  /** As Math.random: for names that no earlier run has used. */
  readonly random: () => number;
}

interface Expectation extends Matchers<void> {
  readonly not: Matchers<void>;
  /** Of a promise that is to be rejected. */
  readonly rejects: Matchers<Promise<void>>;
}

interface Matchers<Result> {
  toBe(expected: unknown): Result;
  toBeDefined(): Result;
  toBeGreaterThanOrEqual(expected: number): Result;
  toBeLessThanOrEqual(expected: number): Result;
  toBeUndefined(): Result;
  toContain(item: unknown): Result;
  /** Properties that are undefined count as absent. */
  toEqual(expected: unknown): Result;
  toHaveLength(length: number): Result;
  toHaveProperty(name: string): Result;
  toMatchObject(expected: object): Result;
  toThrow(message?: string): Result;
}

/** Adapters that a suite has for itself. They are empty. */
export interface Opened<Name extends keyof Ports> {
  readonly ports: Pick<Ports, Name>;
  close(): Promise<void>;
}

/** Runs the work in a transaction of the store. If the work fails, the transaction is undone. */
export type Transact = <Result>(work: (transaction: Transaction) => Promise<Result>) => Promise<Result>;

export type StoredEvent = Pick<PublishedEvent, 'type' | 'data'>;

/** Animals for a suite, and what it has to do and to see besides. `openedAnimals` makes it of a whole store. */
export interface OpenedAnimals extends Opened<'animals'> {
  readonly transact: Transact;
  /** Stores an order of that status for the animal, which stays as it is. */
  order(id: AnimalId, status: OrderStatus): Promise<void>;
  /** The events that are stored, in their order. */
  storedEvents(): Promise<readonly StoredEvent[]>;
}

/** A hasher for a suite, with a hash of that password that has other parameters than new ones. */
export interface OpenedHasher extends Opened<'passwordHasher'> {
  outdatedHashOf(password: Password): Promise<string>;
}

/** A queue or a feed for a suite, with the other ports that it needs. */
export interface OpenedQueue<Name extends keyof Ports> extends Opened<Name> {
  /**
   * Lets that many milliseconds pass for the queue, at least: sets its clock, or moves all due times, and those of the
   * feed's events, back if the clock can't be set.
   */
  letPass(milliseconds: number): Promise<void> | void;
}

/** Opens the adapter that is tested, with the other ports that its suite needs on the same store. */
export type Open<Name extends keyof Ports> = () => Promise<Opened<Name>>;

export type OpenQueue<Name extends keyof Ports> = () => Promise<OpenedQueue<Name>>;
