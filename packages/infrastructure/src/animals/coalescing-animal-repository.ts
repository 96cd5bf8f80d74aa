import type {
  Animal,
  AnimalId,
  AnimalQuery,
  AnimalRepository,
  AnimalState,
  CategoryId,
  Instant,
  NewAnimal,
  Transaction,
} from '@adoption-store/domain';
import { Batch } from '../database/batch.js';
import type { TypeOrmAnimalRepository } from './typeorm-animal-repository.js';

/** Pages in one batch. A page may have 100 animals. */
const MOST_PAGES = 32;

/** Cached pages, of at most 100 animals each. */
const MOST_REMEMBERED = 256;

/**
 * Requests that arrive together share work: one query for the same page, one query for several single animals, one INSERT
 * for several additions. An addition that belongs to a larger transaction runs alone.
 */
export class CoalescingAnimalRepository implements AnimalRepository {
  private readonly pages: Batch<AnimalQuery, readonly Animal[]>;
  private readonly finds: Batch<AnimalId, Animal | undefined>;
  private readonly adds: Batch<NewAnimal, Animal>;
  /** Pages that were read while `snapshot` was current, by their queries. */
  private readonly remembered = new Map<string, Promise<readonly Animal[]>>();
  private snapshot = '';

  constructor(private readonly animals: TypeOrmAnimalRepository) {
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

  add(animal: NewAnimal, transaction?: Transaction): Promise<Animal> {
    return transaction === undefined ? this.adds.add(animal) : this.animals.add(animal, transaction);
  }

  findById(id: AnimalId): Promise<Animal | undefined> {
    return this.finds.add(id);
  }

  list(query: AnimalQuery): Promise<readonly Animal[]> {
    return this.pages.add(query);
  }

  change(id: AnimalId, decide: (state: AnimalState) => Animal, categoryId?: CategoryId): Promise<Animal> {
    return this.animals.change(id, decide, categoryId);
  }

  withdraw(id: AnimalId, at: Instant, decide: (state: AnimalState) => Animal): Promise<void> {
    return this.animals.withdraw(id, at, decide);
  }

  private async listEach(queries: readonly AnimalQuery[]): Promise<readonly (readonly Animal[])[]> {
    const snapshot = await this.animals.snapshot();
    const isFull = this.remembered.size + queries.length > MOST_REMEMBERED;
    if (snapshot !== this.snapshot || isFull) this.remembered.clear();
    this.snapshot = snapshot;
    return Promise.all(queries.map((query) => this.remember(query)));
  }

  private remember(query: AnimalQuery): Promise<readonly Animal[]> {
    const { status, ids, categoryIds, after, before, limit } = query;
    const which = `${status} ${ids?.join()} ${categoryIds?.join()} ${after} ${before} ${limit}`;
    const known = this.remembered.get(which);
    if (known !== undefined) return known;
    const page = this.animals.list(query);
    this.remembered.set(which, page);
    // Failures are not cached.
    page.catch(() => this.remembered.delete(which));
    return page;
  }

  private async findAll(ids: readonly AnimalId[]): Promise<readonly (Animal | undefined)[]> {
    const found = await this.animals.list({ ids, limit: ids.length });
    const byId = new Map(found.map((animal) => [animal.id, animal]));
    return ids.map((id) => byId.get(id));
  }
}
