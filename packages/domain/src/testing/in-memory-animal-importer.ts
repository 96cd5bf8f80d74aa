import type { AnimalId } from '../animals/animal.js';
import {
  type AnimalImporter,
  type AnimalToImport,
  type ImportOutcome,
  MOST_REPORTED,
  type InvalidRow,
} from '../animals/animal-importer.js';
import type { InMemoryAnimalRepository } from './in-memory-animal-repository.js';

export class InMemoryAnimalImporter implements AnimalImporter {
  constructor(private readonly animals: InMemoryAnimalRepository) {}

  async importAll(parts: AsyncIterable<readonly AnimalToImport[]>, isWanted: () => boolean): Promise<ImportOutcome> {
    const all: AnimalToImport[] = [];
    for await (const part of parts) all.push(...part);
    const isAsked = this.refusedOf(all).length === 0 && isWanted();
    // Checked again, because a category may have been removed since the first check.
    const refused = this.refusedOf(all);
    const newIds = isAsked && refused.length === 0 ? await this.store(all) : [];
    const [first] = newIds;
    return {
      refused: { first: refused.slice(0, MOST_REPORTED), count: refused.length },
      newIds: first === undefined ? undefined : [first, newIds.at(-1) ?? first],
    };
  }

  /** Returns the new ids. */
  private async store(all: readonly AnimalToImport[]): Promise<readonly AnimalId[]> {
    this.animals.insert(all.flatMap(({ id, animal }) => (id === undefined ? [] : { ...animal, id })));
    const others = all.filter(({ id }) => id === undefined);
    return Promise.all(others.map(async ({ animal }) => (await this.animals.add(animal)).id));
  }

  private refusedOf(all: readonly AnimalToImport[]): readonly InvalidRow[] {
    const lines = new Map<AnimalId | undefined, number>();
    return all.flatMap((row) => {
      const { line, id } = row;
      const earlier = lines.get(id);
      if (id !== undefined && earlier === undefined) lines.set(id, line);
      const repetition = earlier === undefined ? undefined : `id ${id} is that of the animal in line ${earlier}`;
      const reason = this.animals.objectionTo(row) ?? repetition;
      return reason === undefined ? [] : { line, reason };
    });
  }
}
