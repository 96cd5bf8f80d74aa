import type { Animal, AnimalId, AnimalQuery, AnimalRepository, NewAnimal } from '@adoption-store/domain';
import { Batch } from '../database/batch.js';
import { isInTransaction } from '../database/transactions.js';

/** Pages that nobody waits for are forgotten when there are so many. */
const MOST_PAGES = 1_000;

/** Animals that can be added many at a time. */
export interface BatchedAnimalRepository extends AnimalRepository {
  /** Stores all or none, each under a new id, in their order. */
  addAll(animals: readonly NewAnimal[]): Promise<readonly Animal[]>;
}

/**
 * Lets those who ask at the same time share: one query for all who want the same page, one for all who look for an
 * animal each, one transaction for all who add one. What is part of a larger transaction shares with nobody.
 */
export class CoalescingAnimalRepository implements AnimalRepository {
  private readonly pages = new Map<string, Batch<number, readonly Animal[]>>();
  private readonly finds: Batch<AnimalId, Animal | undefined>;
  private readonly adds: Batch<NewAnimal, Animal>;

  constructor(private readonly animals: BatchedAnimalRepository) {
    this.finds = new Batch(
      (id) => animals.findById(id),
      (ids) => this.findAll(ids),
    );
    this.adds = new Batch(
      (animal) => animals.add(animal),
      (added) => animals.addAll(added),
    );
  }

  add(animal: NewAnimal): Promise<Animal> {
    return isInTransaction() ? this.animals.add(animal) : this.adds.add(animal);
  }

  findById(id: AnimalId): Promise<Animal | undefined> {
    return isInTransaction() ? this.animals.findById(id) : this.finds.add(id);
  }

  list(query: AnimalQuery): Promise<readonly Animal[]> {
    const { status = '', ids, after = '', limit } = query;
    if (ids !== undefined || isInTransaction()) return this.animals.list(query);
    const shape = `${status} ${after}`;
    const page = this.pages.get(shape) ?? this.newPage(query, shape);
    return page.add(limit);
  }

  /** All who want this page share the longest of what they want: the shorter ones are its beginning. */
  private newPage(query: AnimalQuery, shape: string): Batch<number, readonly Animal[]> {
    const read = (limit: number) => this.animals.list({ ...query, limit });
    const readLongest = async (limits: readonly number[]) => {
      const longest = await read(Math.max(...limits));
      return limits.map((limit) => (limit < longest.length ? longest.slice(0, limit) : longest));
    };
    const page = new Batch(read, readLongest);
    if (this.pages.size >= MOST_PAGES) this.forgetIdlePages();
    this.pages.set(shape, page);
    return page;
  }

  private forgetIdlePages(): void {
    for (const [shape, page] of this.pages) if (page.isIdle) this.pages.delete(shape);
  }

  private async findAll(ids: readonly AnimalId[]): Promise<readonly (Animal | undefined)[]> {
    const found = await this.animals.list({ ids, limit: ids.length });
    const byId = new Map(found.map((animal) => [animal.id, animal]));
    return ids.map((id) => byId.get(id));
  }
}
