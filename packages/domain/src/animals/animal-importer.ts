import type { AnimalId, NewAnimal } from './animal.js';

/** A valid animal of a file. Without an id it gets a new one. */
export interface AnimalToImport {
  /** The line on which its row begins. */
  readonly line: number;
  readonly id: AnimalId | undefined;
  readonly animal: NewAnimal;
}

export interface RefusedRow {
  readonly line: number;
  readonly reason: string;
}

export interface RefusedRows {
  /** The first of them, by line. */
  readonly first: readonly RefusedRow[];
  readonly count: number;
}

/** Refused rows that are reported one by one. */
export const MOST_REPORTED = 100;

export interface ImportOutcome {
  /** Rows whose ids are taken, and under strict categories those of unknown ones. If there are any, nothing is stored. */
  readonly refused: RefusedRows;
  /** The first and the last new id, undefined if none was given. Concurrent additions may have ids between them. */
  readonly newIds: readonly [first: AnimalId, last: AnimalId] | undefined;
}

/** Port: stores many animals at once. */
export interface AnimalImporter {
  /**
   * Stores all animals or none. An id is kept, unless an animal has it, a withdrawn animal had it, or an earlier row has
   * it. The animals without one get new ids in the given order. No id is given to two animals, whatever is added meanwhile.
   * Each animal is stored with its event `AnimalAdded`.
   *
   * @param parts read once, as fast as they can be stored. If they fail, nothing is stored.
   * @param isWanted called once, after the last part. If it returns false, the ids are only checked and nothing is stored.
   */
  importAll(parts: AsyncIterable<readonly AnimalToImport[]>, isWanted: () => boolean): Promise<ImportOutcome>;
}
