import type { CategoryId } from '../animals/animal.js';
import type { Transaction } from '../kernel/transaction.js';
import type { WantedVersions } from '../kernel/version.js';
import type { Category } from './category.js';

export interface CategoryQuery {
  /** Only these categories; an unknown id is simply absent. */
  readonly ids?: readonly CategoryId[] | undefined;
  /** Only categories with a greater id. */
  readonly after?: CategoryId | undefined;
  /** Only categories with a lesser id, the greatest of them. Not together with `after`. */
  readonly before?: CategoryId | undefined;
  /** At most so many, 1 or more. */
  readonly limit: number;
}

/** Port: the categories. Each method is atomic, and a write is durable once its promise resolves. */
export interface CategoryRepository {
  /**
   * Stores the category under a new id, which neither a category nor an animal has.
   *
   * @throws DomainError `category_name_taken`. Of concurrent callers with one name exactly one gets it.
   */
  add(name: string, transaction?: Transaction): Promise<Category>;
  findById(id: CategoryId): Promise<Category | undefined>;
  /** The matching categories, ascending by id. */
  list(query: CategoryQuery): Promise<readonly Category[]>;
  /**
   * Gives the id this name, whether it had one or not. Returns whether it had none; of concurrent callers for such an id
   * one is told so.
   *
   * @param versions the category must have one of these (`categoryVersion`); `any`: it must have a name; `none`: it must
   *   have none yet.
   * @throws DomainError `precondition_failed`, or `category_name_taken` if another category has the name; nothing changed.
   */
  name(category: Category, versions?: WantedVersions | 'any' | 'none'): Promise<boolean>;
  /**
   * Removes the category. False if there is none. While the policy is `strict`, no animal is put into the category
   * meanwhile.
   *
   * @throws DomainError `precondition_failed`, or `category_in_use` if an animal has it; nothing changed.
   */
  remove(id: CategoryId, versions?: WantedVersions): Promise<boolean>;
}
