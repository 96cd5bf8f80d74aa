import type { CategoryId } from '../animals/animal.js';
import {
  type Category,
  categoryInUse,
  categoryNameKey,
  categoryNameTaken,
  type CategoryPolicy,
  categoryVersion,
} from '../categories/category.js';
import type { CategoryQuery, CategoryRepository } from '../categories/category-repository.js';
import { preconditionFailed, requireVersion, type Sha256, type WantedVersions } from '../kernel/version.js';
import type { InMemoryAnimalRepository } from './in-memory-animal-repository.js';
import { remember } from './in-memory-idempotency-records.js';
import { PredictableCryptography } from './predictable-cryptography.js';

export class InMemoryCategoryRepository implements CategoryRepository {
  private readonly categories = new Map<CategoryId, Category>();
  private lastId = 0n;

  constructor(
    private readonly animals: InMemoryAnimalRepository,
    policy: CategoryPolicy = 'open',
    private readonly sha256: Sha256 = (text) => new PredictableCryptography().sha256(text),
  ) {
    animals.askAboutCategories((id) => policy === 'open' || this.categories.has(id));
  }

  async add(name: string): Promise<Category> {
    this.requireFree(name);
    let id: CategoryId;
    do id = (this.lastId += 1n) as CategoryId;
    while (this.categories.has(id) || this.animals.uses(id));
    const category = { id, name };
    this.categories.set(id, category);
    return category;
  }

  async findById(id: CategoryId): Promise<Category | undefined> {
    return this.categories.get(id);
  }

  async list({ ids, after, before, limit }: CategoryQuery): Promise<readonly Category[]> {
    return [...this.categories.values()]
      .filter(({ id }) => ids === undefined || ids.includes(id))
      .filter(({ id }) => after === undefined || id > after)
      .sort((one, other) => (one.id < other.id ? -1 : 1))
      .filter(({ id }) => before === undefined || id < before)
      .slice(...(before === undefined ? [0, limit] : [-limit]));
  }

  async name({ id, name }: Category, versions?: WantedVersions | 'any' | 'none'): Promise<boolean> {
    const before = this.categories.get(id);
    const isNew = before === undefined;
    if (versions === 'none' ? !isNew : isNew && versions !== undefined) throw preconditionFailed('category');
    if (!isNew && versions !== 'any' && versions !== 'none') this.requireVersion(before, versions);
    this.requireFree(name, id);
    this.categories.set(id, { id, name });
    return isNew;
  }

  async remove(id: CategoryId, versions?: WantedVersions): Promise<boolean> {
    const category = this.categories.get(id);
    if (category === undefined) return false;
    this.requireVersion(category, versions);
    if (this.animals.uses(id)) throw categoryInUse(id);
    return this.categories.delete(id);
  }

  /** Returns a function that restores the current state. */
  remember(): () => void {
    return remember(this.categories);
  }

  private requireVersion(category: Category, versions: WantedVersions): void {
    requireVersion(categoryVersion(category, this.sha256), versions, 'category');
  }

  /** @throws DomainError if another category than the one with this id has the name. */
  private requireFree(name: string, itsId?: CategoryId): void {
    const key = categoryNameKey(name);
    const isTaken = [...this.categories.values()].some(
      (category) => category.id !== itsId && categoryNameKey(category.name) === key,
    );
    if (isTaken) throw categoryNameTaken(name);
  }
}
