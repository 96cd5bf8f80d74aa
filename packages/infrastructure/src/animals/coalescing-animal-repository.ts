import type {
  Animal,
  AnimalId,
  AnimalQuery,
  AnimalRepository,
  AnimalState,
  CategoryId,
  DecidedAnimal,
  Instant,
  NewAnimal,
  PetStatus,
  Transaction,
} from '@adoption-store/domain';
import { Batch } from '../database/batch.js';
import type { PageStart, TypeOrmAnimalRepository } from './typeorm-animal-repository.js';

/** Most animals in one answer of PostgreSQL. Decoding them holds the event loop for some milliseconds. */
const MOST_ANIMALS = 2_000;

type Pages = Batch<PageStart, readonly Animal[]>;

/**
 * Requests that arrive together share work: one query for several single animals or several pages, one INSERT for several
 * additions. An addition that belongs to a larger transaction runs alone.
 */
export class CoalescingAnimalRepository implements AnimalRepository {
  private readonly finds: Batch<AnimalId, Animal | undefined>;
  private readonly adds: Batch<NewAnimal, Animal>;
  /** By the size of their pages. */
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
    const { status, ids, categoryIds, after, before, limit } = query;
    const isLater = after !== undefined && before === undefined;
    // There are few first pages, so those who ask for one ask for the same.
    if (!isLater || ids !== undefined || categoryIds !== undefined) return this.animals.list(query);
    return this.pagesOf(status, limit).add({ status, after });
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
