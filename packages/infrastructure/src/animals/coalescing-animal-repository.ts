import type { Animal, AnimalId, AnimalQuery, AnimalRepository, NewAnimal, PetStatus } from '@adoption-store/domain';
import { Batch } from '../database/batch.js';
import { isInTransaction } from '../database/transactions.js';

/** Pages of one query: a page may have 100 animals. */
const MOST_PAGES = 32;

/** As many animals as `limit` that follow one of them. */
export interface NextPage {
  readonly after: AnimalId;
  readonly limit: number;
}

/** Animals that can be added, and pages that can be read, many at a time. */
export interface BatchedAnimalRepository extends AnimalRepository {
  /** Stores all or none, each under a new id, in their order. */
  addAll(animals: readonly NewAnimal[]): Promise<readonly Animal[]>;
  /** @param pages all of the same status or of any, each behind another animal: the furthest first. */
  listEach(status: PetStatus | undefined, pages: readonly NextPage[]): Promise<readonly (readonly Animal[])[]>;
}

/**
 * Lets those who ask at the same time share: one query for all who want a first page, one for all who want a later one,
 * one for all who look for an animal each, one transaction for all who add one. What is part of a larger transaction
 * shares with nobody.
 */
export class CoalescingAnimalRepository implements AnimalRepository {
  /** By status. */
  private readonly firstPages = new Map<PetStatus | undefined, Batch<number, readonly Animal[]>>();
  private readonly nextPages = new Map<PetStatus | undefined, Batch<NextPage, readonly Animal[]>>();
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
    const { status, ids, after, limit } = query;
    if (ids !== undefined || isInTransaction()) return this.animals.list(query);
    if (after !== undefined) return (this.nextPages.get(status) ?? this.shareNextPages(status)).add({ after, limit });
    return (this.firstPages.get(status) ?? this.shareFirstPages(status)).add(limit);
  }

  /** All share the longest of what they want: the shorter ones are its beginning. */
  private shareFirstPages(status: PetStatus | undefined) {
    const read = (limit: number) => this.animals.list({ status, limit });
    const batch = new Batch(read, async (limits) => {
      const longest = await read(Math.max(...limits));
      return limits.map((limit) => beginningOf(longest, limit));
    });
    this.firstPages.set(status, batch);
    return batch;
  }

  private shareNextPages(status: PetStatus | undefined) {
    const batch = new Batch<NextPage, readonly Animal[]>(
      (page) => this.animals.list({ status, ...page }),
      async (wanted) => {
        const limits = new Map<AnimalId, number>();
        for (const { after, limit } of wanted) limits.set(after, Math.max(limit, limits.get(after) ?? 0));
        const pages = Array.from(limits, ([after, limit]) => ({ after, limit }));
        pages.sort((one, other) => (one.after > other.after ? -1 : 1));
        const read = await this.animals.listEach(status, pages);
        const byAfter = new Map(pages.map(({ after }, index) => [after, read[index] ?? []]));
        return wanted.map(({ after, limit }) => beginningOf(byAfter.get(after) ?? [], limit));
      },
      MOST_PAGES,
    );
    this.nextPages.set(status, batch);
    return batch;
  }

  private async findAll(ids: readonly AnimalId[]): Promise<readonly (Animal | undefined)[]> {
    const found = await this.animals.list({ ids, limit: ids.length });
    const byId = new Map(found.map((animal) => [animal.id, animal]));
    return ids.map((id) => byId.get(id));
  }
}

function beginningOf(page: readonly Animal[], limit: number): readonly Animal[] {
  return limit < page.length ? page.slice(0, limit) : page;
}
