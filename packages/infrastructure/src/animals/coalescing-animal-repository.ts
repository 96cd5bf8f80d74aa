import type {
  Animal,
  AnimalId,
  AnimalQuery,
  AnimalRepository,
  AnimalState,
  CategoryId,
  DecidedAnimal,
  Fields,
  Instant,
  NamedAnimals,
  NamedAnimalsQuery,
  NewAnimal,
  PetStatus,
  Transaction,
} from '@adoption-store/domain';
import { Batch } from '../database/batch.js';
import type { PageStart, TypeOrmAnimalRepository } from './typeorm-animal-repository.js';

/** The most animals in one result of PostgreSQL. Decoding them blocks the event loop for some milliseconds. */
const MOST_ANIMALS = 2_000;

/** Whether pages with this field share a statement. A new filter of a query must be decided here, or it doesn't compile. */
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
  private readonly finds: Batch<AnimalId, Animal | undefined>;
  private readonly adds: Batch<NewAnimal, Animal>;
  /** By page size. */
  private readonly pages = new Map<number, Pages>();
  private readonly pagesByStatus = new Map<number, Pages>();

  constructor(private readonly animals: TypeOrmAnimalRepository) {
    this.finds = new Batch(
      (id) => animals.findById(id),
      (ids) => this.findAll(ids),
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
    return this.finds.add(id);
  }

  list(query: AnimalQuery): Promise<readonly Animal[]> {
    const { status, after, limit } = query;
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
    );
    bySize.set(limit, pages);
    return pages;
  }

  private async findAll(ids: readonly AnimalId[]): Promise<readonly (Animal | undefined)[]> {
    const found = await this.animals.list({ ids, limit: ids.length });
    const byId = new Map(found.map((animal) => [animal.id, animal]));
    return ids.map((id) => byId.get(id));
  }
}
