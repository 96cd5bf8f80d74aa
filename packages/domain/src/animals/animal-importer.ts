import type { AnimalId, NewAnimal } from './animal.js';

/** A valid animal of a file. Without an id it gets a new one. */
export interface AnimalToImport {
  /** The line on which its row begins. */
  readonly line: number;
  readonly id: AnimalId | undefined;
  readonly animal: NewAnimal;
}

export interface InvalidRow {
  readonly line: number;
  readonly reason: string;
}

export interface InvalidRows {
  /** At most `MOST_REPORTED`, by line. */
  readonly first: readonly InvalidRow[];
  readonly count: number;
}

/** Refused rows that are reported one by one. */
export const MOST_REPORTED = 100;

export interface ImportOutcome {
  /**
   * Rows whose ids are taken and, if categories are `strict`, rows of unknown categories. If any, nothing is stored.
   */
  readonly refused: InvalidRows;
  /** The first and the last new id. Undefined without new ids. Concurrent additions may have ids between them. */
  readonly newIds: readonly [first: AnimalId, last: AnimalId] | undefined;
}

/** Port: stores many animals at once. */
export interface AnimalImporter {
  /**
   * Stores all animals or none, each with its event `pet.added`. An animal keeps its id; the row is refused if
   * another animal has or had that id, or an earlier row has it. The animals without an id get new ones in the given
   * order. No two animals ever get the same id, whatever is added meanwhile.
   *
   * @param parts If they fail, nothing is stored.
   * @param isWanted called after the last part, once, unless a row is refused. If it returns false, the rows are checked
   * but not stored.
   */
  importAll(parts: AsyncIterable<readonly AnimalToImport[]>, isWanted: () => boolean): Promise<ImportOutcome>;
}
