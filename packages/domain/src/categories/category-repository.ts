import type { CategoryId } from '../animals/animal.js';
import type { PagePart } from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import type { AdditionState, Category, NamedCategory, NamingState, DeletionState } from './category.js';

export interface CategoryQuery extends PagePart<CategoryId> {
  /** Only these categories; an unknown id is simply absent. */
  readonly ids?: readonly CategoryId[] | undefined;
}

/**
 * Port: the categories. Each method is atomic, and every read that begins after a write has resolved sees it. Changes run
 * one at a time, so the state that `decide` gets is current until its decision is stored. `decide` is called once. If it throws, nothing
 * changes.
 */
export interface CategoryRepository {
  /** Stores the category that `decide` returns. The state has a new id, and the category that already has this name. */
  add(name: string, decide: (state: AdditionState) => Category, transaction?: Transaction): Promise<Category>;
  findById(id: CategoryId): Promise<Category | undefined>;
  /** The category that has this name, by `nameKey` in NFC. Of older ones that of the same normal form comes first. */
  findByName(name: string): Promise<Category | undefined>;
  /** The matching categories, ascending by id. */
  list(query: CategoryQuery): Promise<readonly Category[]>;
  /** Stores the category that `decide` returns. The state has the categories with the wanted id and the wanted name. */
  name(wanted: Category, decide: (state: NamingState) => NamedCategory): Promise<NamedCategory>;
  /**
   * Removes the category, unless `decide` throws. If the policy is `strict`, no animal is put into it meanwhile. It
   * doesn't wait for animals that are being put into it: the category is in use.
   */
  delete(id: CategoryId, decide: (state: DeletionState) => void): Promise<void>;
}
