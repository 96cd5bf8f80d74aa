import type { Animal, AnimalId, AnimalQuery, AnimalRepository, NewAnimal } from '@adoption-store/domain';
import { Batch } from '../database/batch.js';
import { isInTransaction } from '../database/transactions.js';

/** Pages of one batch: a page may have 100 animals. */
const MOST_PAGES = 32;

/** Animals that can be added many at a time. */
export interface BatchedAnimalRepository extends AnimalRepository {
  /** Stores all or none, each under a new id, in their order. */
  addAll(animals: readonly NewAnimal[]): Promise<readonly Animal[]>;
}

/**
 * Lets those who ask at the same time share: one query for all who want the same page, one for all who look for an animal
 * each, one transaction for all who add one. What is part of a larger transaction shares with nobody.
 */
export class CoalescingAnimalRepository implements AnimalRepository {
  private readonly pages: Batch<AnimalQuery, readonly Animal[]>;
  private readonly finds: Batch<AnimalId, Animal | undefined>;
  private readonly adds: Batch<NewAnimal, Animal>;

  constructor(private readonly animals: BatchedAnimalRepository) {
    this.pages = new Batch(
      (query) => animals.list(query),
      (queries) => this.listEach(queries),
      MOST_PAGES,
    );
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
    return isInTransaction() ? this.animals.list(query) : this.pages.add(query);
  }

  private async listEach(queries: readonly AnimalQuery[]): Promise<readonly (readonly Animal[])[]> {
    const pages = new Map<string, Promise<readonly Animal[]>>();
    return Promise.all(
      queries.map((query) => {
        const { status, ids, after, limit } = query;
        const which = `${status} ${ids?.join()} ${after} ${limit}`;
        const page = pages.get(which) ?? this.animals.list(query);
        pages.set(which, page);
        return page;
      }),
    );
  }

  private async findAll(ids: readonly AnimalId[]): Promise<readonly (Animal | undefined)[]> {
    const found = await this.animals.list({ ids, limit: ids.length });
    const byId = new Map(found.map((animal) => [animal.id, animal]));
    return ids.map((id) => byId.get(id));
  }
}
