import {
  type Animal,
  type AnimalId,
  animalPage,
  type AnimalQuery,
  type AnimalRepository,
  type AnimalState,
  type CategoryId,
  type DecidedAnimal,
  type Fields,
  type Instant,
  type NamedAnimals,
  type NamedAnimalsQuery,
  type NewAnimal,
  type PetStatus,
  type Transaction,
} from '@adoption-store/domain';
import { Batch } from '../database/batch.js';
import type { PageStart, TypeOrmAnimalRepository } from './typeorm-animal-repository.js';

/** The most animals in one result of PostgreSQL. Decoding them blocks the event loop for some milliseconds. */
const MOST_ANIMALS = 2_000;
/** A page costs PostgreSQL half of what it costs this process. Additions and single animals gain nothing from a second. */
const PAGES_AT_ONCE = 2;

/** Whether later pages with this field share a statement. A new filter must be decided here, or it doesn't compile. */
const IS_SHARED = {
  status: true,
  ids: false,
  categoryIds: false,
  after: true,
  before: false,
  limit: true,
} satisfies Fields<AnimalQuery>;
const SINGLE = (Object.keys(IS_SHARED) as (keyof AnimalQuery)[]).filter((field) => !IS_SHARED[field]);

type Pages = Batch<PageStart, readonly Animal[]>;

/**
 * Requests that arrive together share a statement: a query for several animals or several pages, or an INSERT of
 * several animals. An addition in a given transaction runs alone.
 */
export class CoalescingAnimalRepository implements AnimalRepository {
  /** All get the same result, with the animals of each. */
  private readonly finds: Batch<readonly AnimalId[], ReadonlyMap<AnimalId, Animal>>;
  private readonly adds: Batch<NewAnimal, Animal>;
  /** By page size. */
  private readonly pages = new Map<number, Pages>();
  private readonly pagesByStatus = new Map<number, Pages>();

  constructor(private readonly animals: TypeOrmAnimalRepository) {
    this.finds = new Batch(
      (ids) => this.findAll(ids),
      async (all) => {
        const found = await this.findAll(all.flat());
        return all.map(() => found);
      },
    );
    this.adds = new Batch<NewAnimal, Animal>(
      (animal) => animals.add(animal),
      (all) => animals.addAll(all),
    );
  }

  add(animal: NewAnimal, transaction?: Transaction): Promise<Animal> {
    return transaction === undefined ? this.adds.add(animal) : this.animals.add(animal, transaction);
  }

  findById(id: AnimalId): Promise<Animal | undefined> {
    return this.finds.add([id]).then((found) => found.get(id));
  }

  list(query: AnimalQuery): Promise<readonly Animal[]> {
    const { status, ids, after, limit } = query;
    if (ids !== undefined) return this.listGiven(ids, query);
    // A first page isn't batched: there are few different ones, and `SharedReads` already shares one answer among
    // equal requests.
    if (after === undefined || SINGLE.some((field) => query[field] !== undefined)) return this.animals.list(query);
    return this.pagesOf(status, limit).add({ status, after });
  }

  listByName(query: NamedAnimalsQuery): Promise<NamedAnimals> {
    return this.animals.listByName(query);
  }

  change(id: AnimalId, decide: (state: AnimalState) => DecidedAnimal, categoryId?: CategoryId): Promise<Animal> {
    return this.animals.change(id, decide, categoryId);
  }

  withdraw(id: AnimalId, at: Instant, decide: (state: AnimalState) => DecidedAnimal): Promise<void> {
    return this.animals.withdraw(id, at, decide);
  }

  private pagesOf(status: PetStatus | undefined, limit: number): Pages {
    const bySize = status === undefined ? this.pages : this.pagesByStatus;
    const known = bySize.get(limit);
    if (known !== undefined) return known;
    const pages: Pages = new Batch(
      (start) => this.animals.list({ ...start, limit }),
      (starts) => this.animals.listEach(starts, limit),
      Math.max(1, Math.floor(MOST_ANIMALS / limit)),
      PAGES_AT_ONCE,
    );
    bySize.set(limit, pages);
    return pages;
  }

  private async listGiven(ids: readonly AnimalId[], query: AnimalQuery): Promise<readonly Animal[]> {
    const found = await this.finds.add(ids);
    const animals = [...new Set(ids)].flatMap((id) => found.get(id) ?? []);
    return animalPage(animals, { ...query, ids: undefined });
  }

  private async findAll(ids: readonly AnimalId[]): Promise<ReadonlyMap<AnimalId, Animal>> {
    const [first] = ids;
    if (ids.length === 1 && first !== undefined) {
      const animal = await this.animals.findById(first);
      return new Map(animal === undefined ? [] : [[first, animal]]);
    }
    const found = await this.animals.list({ ids, limit: ids.length });
    return new Map(found.map((animal) => [animal.id, animal]));
  }
}
