import type { Animal, ImportRow } from '@adoption-store/domain';
import { RowError, shortened, UnreadableError } from './refusals.js';

const MOST_KINDS = 200;

/** Counts the values of a file for which the store has no field, for the report at the end. */
export class Omissions {
  private readonly counts = new Map<string, number>();
  private rowCount = 0;

  add(what: string): void {
    const shown = shortened(what);
    const kind = this.counts.size < MOST_KINDS || this.counts.has(shown) ? shown : 'others';
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  /** Counts a row that is left out as a whole. */
  addRow(why: string): void {
    this.rowCount += 1;
    this.add(why);
  }

  get rows(): number {
    return this.rowCount;
  }

  /** The kinds with their counts, the most frequent first. */
  list(): readonly (readonly [what: string, count: number])[] {
    return [...this.counts].sort(([, one], [, other]) => other - one);
  }
}

/** The id of the category with that name, undefined if there is none. */
export type CategoryOf = (name: string) => bigint | undefined;

export interface Reading {
  readonly omissions: Omissions;
  readonly categoryOf: CategoryOf;
  readonly encoding: string | undefined;
}

/** Reads a file's rows in parts. A row that isn't an animal becomes a refusal with its line. */
export type ReadRows = (input: AsyncIterable<Buffer>, reading: Reading) => AsyncGenerator<readonly ImportRow[]>;

/** If the rest of the file can't be read, the last row is a refusal that says so. */
export function endingInRefusal(read: ReadRows): ReadRows {
  return async function* (input, reading) {
    try {
      yield* read(input, reading);
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      yield [{ line: error.line, refusal: `${error.message}; what follows was not read` }];
    }
  };
}

type RowAnimal = Extract<ImportRow, { animal: unknown }>['animal'];

/** The row, or its refusal if `read` throws a RowError. */
export function rowOf(line: number, read: () => RowAnimal): ImportRow {
  try {
    return { line, animal: read() };
  } catch (error) {
    if (!(error instanceof RowError)) throw error;
    return { line, refusal: error.message };
  }
}

/** @throws RowError if the JSON value isn't an object. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new RowError('is not a JSON object');
  return value as Readonly<Record<string, unknown>>;
}

interface Field {
  readonly type: 'bigint' | 'string';
  readonly isOptional?: boolean;
}

const FIELDS: Readonly<Record<keyof Animal, Field>> = {
  id: { type: 'bigint', isOptional: true },
  name: { type: 'string' },
  categoryId: { type: 'bigint' },
  status: { type: 'string', isOptional: true },
};

/** The fields of an animal in this store's own formats, in the order in which they are written. */
export const FIELD_NAMES = Object.keys(FIELDS) as readonly (keyof Animal)[];

/** @throws RowError if a value isn't of its field's type. */
export function animalFrom(valueOf: (name: keyof Animal, field: Field) => unknown): RowAnimal {
  const values = FIELD_NAMES.map((name) => {
    const field = FIELDS[name];
    const value = valueOf(name, field);
    const isMissing = value === undefined && field.isOptional === true;
    if (isMissing || typeof value === field.type) return [name, value];
    throw new RowError(`${name} must be ${field.type === 'bigint' ? 'an integer' : 'a string'}`);
  });
  return Object.fromEntries(values) as RowAnimal;
}
