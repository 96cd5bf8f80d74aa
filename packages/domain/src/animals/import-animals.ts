import { DomainError, invalid } from '../kernel/errors.js';
import { type AnimalId, newAnimal, type NewAnimalInput } from './animal.js';
import {
  type AnimalToImport,
  type ImportOutcome,
  MOST_REPORTED,
  type InvalidRow,
  type InvalidRows,
} from './animal-importer.js';
import type { AnimalPorts } from './ports.js';

/** The largest id in a file. Later animals get greater ids, and more remain than will ever be needed. */
export const MAX_IMPORTED_ID = 2n ** 62n;

/** A row of a file: an animal, or the reason why the row is refused. */
export type ImportRow =
  | { readonly line: number; readonly animal: NewAnimalInput & { readonly id?: bigint | undefined } }
  | { readonly line: number; readonly refusal: string };

export interface ImportAnimalsInput {
  /** The rows by line, in parts. */
  readonly rows: AsyncIterable<readonly ImportRow[]>;
  /** Checks everything and stores nothing. */
  readonly isDryRun?: boolean | undefined;
}

export interface ImportReport extends ImportOutcome {
  readonly isStored: boolean;
  /** Valid rows with an id. */
  readonly withId: number;
  /** Valid rows without one. */
  readonly withoutId: number;
}

export class ImportAnimals {
  constructor(private readonly ports: Pick<AnimalPorts, 'animalImporter'>) {}

  /** Stores the animals of all rows, or none if a row is refused. */
  async execute({ rows, isDryRun = false }: ImportAnimalsInput): Promise<ImportReport> {
    const invalidRows = new CollectedRows();
    let [withId, withoutId] = [0, 0];
    async function* valid(): AsyncGenerator<readonly AnimalToImport[]> {
      for await (const part of rows) {
        const animals = part.flatMap((row) => {
          const animal = animalOf(row);
          if (typeof animal !== 'string') return animal;
          invalidRows.add({ line: row.line, reason: animal });
          return [];
        });
        const identified = animals.filter(({ id }) => id !== undefined).length;
        withId += identified;
        withoutId += animals.length - identified;
        yield animals;
      }
    }
    const { refused: taken, newIds } = await this.ports.animalImporter.importAll(
      valid(),
      () => !isDryRun && invalidRows.count === 0,
    );
    const refused = both(invalidRows, taken);
    return { isStored: !isDryRun && refused.count === 0, withId, withoutId, newIds, refused };
  }
}

/** The first refused rows, and the count of all. */
class CollectedRows implements InvalidRows {
  readonly first: InvalidRow[] = [];
  count = 0;

  add(row: InvalidRow): void {
    this.count += 1;
    if (this.first.length < MOST_REPORTED) this.first.push(row);
  }
}

function both(one: InvalidRows, other: InvalidRows): InvalidRows {
  const first = [...one.first, ...other.first].sort((a, b) => a.line - b.line);
  return { first: first.slice(0, MOST_REPORTED), count: one.count + other.count };
}

function animalOf(row: ImportRow): AnimalToImport | string {
  if ('refusal' in row) return row.refusal;
  try {
    return { line: row.line, id: importedId(row.animal.id), animal: newAnimal(row.animal) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.message;
  }
}

function importedId(id: bigint | undefined): AnimalId | undefined {
  if (id !== undefined && (id < 1n || id > MAX_IMPORTED_ID))
    throw invalid('id', `must be an integer from 1 to ${MAX_IMPORTED_ID}`);
  return id as AnimalId | undefined;
}
