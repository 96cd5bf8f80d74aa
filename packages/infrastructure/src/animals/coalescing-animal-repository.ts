import type { Animal, AnimalId, AnimalQuery, AnimalRepository, NewAnimal } from '@adoption-store/domain';
import { Batch } from '../batch.js';

/** Animals that can be added many at a time. */
export interface BatchedAnimalRepository extends AnimalRepository {
  /** Stores all or none, each under a new id, in their order. */
  addAll(animals: readonly NewAnimal[]): Promise<readonly Animal[]>;
}

/** Queries, ids or new animals of one batch. */
const MOST = 256;

/**
 * Lets those who ask at the same time share: one query for all who want the same page, one for all who look for an
 * animal each, one transaction for all who add one. Nobody waits where nobody else asks, and nobody is told anything
 * older than the question (`Batch`).
 */
export class CoalescingAnimalRepository implements AnimalRepository {
  private readonly pages = new Map<string, Batch<number, readonly Animal[]>>();
  private readonly finds: Batch<AnimalId, Animal | undefined>;
  private readonly adds: Batch<NewAnimal, Animal>;

  constructor(private readonly animals: BatchedAnimalRepository) {
    this.finds = new Batch({ most: MOST, run: (ids) => this.findAll(ids) });
    this.adds = new Batch({ most: MOST, run: (added) => animals.addAll(added) });
  }

  async add(animal: NewAnimal): Promise<Animal> {
    return this.adds.add(animal);
  }

  async findById(id: AnimalId): Promise<Animal | undefined> {
    return this.finds.add(id);
  }

  async list(query: AnimalQuery): Promise<readonly Animal[]> {
    const { status = '', ids, after = '', limit } = query;
    if (ids !== undefined) return this.animals.list(query);
    const shape = `${status} ${after}`;
    const known = this.pages.get(shape);
    const page = known ?? this.newPage(query);
    if (known === undefined) this.pages.set(shape, page);
    try {
      return await page.add(limit);
    } finally {
      if (page.isIdle && this.pages.get(shape) === page) this.pages.delete(shape);
    }
  }

  /** All who want this page, from the longest of them: the shorter ones are its beginning. */
  private newPage(query: AnimalQuery): Batch<number, readonly Animal[]> {
    return new Batch({
      most: MOST,
      run: async (limits) => {
        const longest = await this.animals.list({ ...query, limit: Math.max(...limits) });
        const cut = new Map<number, readonly Animal[]>();
        return limits.map((limit) => {
          const page = cut.get(limit) ?? (limit < longest.length ? longest.slice(0, limit) : longest);
          cut.set(limit, page);
          return page;
        });
      },
    });
  }

  private async findAll(ids: readonly AnimalId[]): Promise<readonly (Animal | undefined)[]> {
    const found = await this.animals.list({ ids: [...new Set(ids)], limit: ids.length });
    const byId = new Map(found.map((animal) => [animal.id, animal]));
    return ids.map((id) => byId.get(id));
  }
}
