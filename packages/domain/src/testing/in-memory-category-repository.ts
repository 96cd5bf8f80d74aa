import type { CategoryId } from '../animals/animal.js';
import type {
  AdditionState,
  Category,
  CategoryPolicy,
  NamedCategory,
  NamingState,
  DeletionState,
} from '../categories/category.js';
import type { CategoryQuery, CategoryRepository } from '../categories/category-repository.js';
import { nameKey } from '../kernel/text.js';
import type { InMemoryAnimalRepository } from './in-memory-animal-repository.js';
import { remember } from './in-memory-idempotency-records.js';

export class InMemoryCategoryRepository implements CategoryRepository {
  private readonly categories = new Map<CategoryId, Category>();
  /** Returns a function that restores the current state. */
  readonly remember = () => remember(this.categories);
  private lastId = 0n;

  constructor(
    private readonly animals: InMemoryAnimalRepository,
    policy: CategoryPolicy,
  ) {
    animals.askAboutCategories((id) => policy === 'open' || this.categories.has(id));
  }

  async add(name: string, decide: (state: AdditionState) => Category): Promise<Category> {
    return this.store(decide({ id: this.nextId(), namesake: this.namesakeOf(name) }));
  }

  async findById(id: CategoryId): Promise<Category | undefined> {
    return this.categories.get(id);
  }

  async findByName(name: string): Promise<Category | undefined> {
    return this.namesakeOf(name);
  }

  async list({ ids, after, before, limit }: CategoryQuery): Promise<readonly Category[]> {
    return [...this.categories.values()]
      .filter(({ id }) => ids === undefined || ids.includes(id))
      .filter(({ id }) => after === undefined || id > after)
      .sort((one, other) => (one.id < other.id ? -1 : 1))
      .filter(({ id }) => before === undefined || id < before)
      .slice(...(before === undefined ? [0, limit] : [-limit]));
  }

  async name({ id, name }: Category, decide: (state: NamingState) => NamedCategory): Promise<NamedCategory> {
    const named = decide({ category: this.categories.get(id), namesake: this.namesakeOf(name) });
    this.store(named.category);
    return named;
  }

  async delete(id: CategoryId, decide: (state: DeletionState) => void): Promise<void> {
    decide({ category: this.categories.get(id), isUsed: this.animals.uses(id) });
    this.categories.delete(id);
  }

  private namesakeOf(name: string): Category | undefined {
    const keyOf = (text: string) => nameKey(text).normalize('NFC');
    return [...this.categories.values()].find((category) => keyOf(category.name) === keyOf(name));
  }

  private nextId(): CategoryId {
    do this.lastId += 1n;
    while (this.categories.has(this.lastId as CategoryId) || this.animals.uses(this.lastId as CategoryId));
    return this.lastId as CategoryId;
  }

  private store(category: Category): Category {
    this.categories.set(category.id, category);
    return category;
  }
}
