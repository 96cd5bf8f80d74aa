import { type CategoryId, validateName } from '../animals/animal.js';
import type { Condition } from '../kernel/condition.js';
import { DomainError, errorCodes, invalid, kernelErrors, ours } from '../kernel/errors.js';
import { INT64_MAX, INT64_MIN, isInt64 } from '../kernel/int64.js';

export const categoryErrors = errorCodes({
  category_name_taken: 'conflict',
  category_in_use: 'conflict',
});

/** A name for an id that animals carry. An animal may carry an id without a name, unless the policy is `strict`. */
export interface Category {
  readonly id: CategoryId;
  /** Has the rules of an animal's name. No two new categories have the same `nameKey` in NFC. */
  readonly name: string;
}

/** Whether animals may be put into unknown categories: `strict` refuses that. */
export type CategoryPolicy = 'open' | 'strict';

/** The state that `decideAddition` needs. */
export interface AdditionState {
  /** A new id, which neither a category nor an animal has. */
  readonly id: CategoryId;
  /** The category that has the name, by `nameKey` in NFC. */
  readonly namesake: Category | undefined;
}

/**
 * @returns the category to store.
 * @throws DomainError `category_name_taken`
 */
export function decideAddition({ id, namesake }: AdditionState, { name }: Pick<Category, 'name'>): Category {
  requireFree(name, id, namesake);
  return { id, name };
}

/** The state that `decideNaming` needs. */
export interface NamingState {
  readonly category: Category | undefined;
  /** The category that has the name, by `nameKey` in NFC. It may be the same one. */
  readonly namesake: Category | undefined;
}

export interface Naming extends Category {
  readonly condition?: Condition<Category> | undefined;
}

export interface NamedCategory {
  readonly category: Category;
  /** Whether the id had no name before. */
  readonly isNew: boolean;
}

/**
 * @returns the category to store.
 * @throws DomainError `precondition_failed` or `category_name_taken`
 */
export function decideNaming({ category, namesake }: NamingState, { id, name, condition }: Naming): NamedCategory {
  condition?.(category);
  requireFree(name, id, namesake);
  return { category: { id, name }, isNew: category === undefined };
}

/** The state that `decideCategoryDeletion` needs. */
export interface DeletionState {
  readonly category: Category | undefined;
  /** Whether an animal has its id, or is being given it. */
  readonly isUsed: boolean;
}

export interface Removal {
  readonly id: bigint;
  readonly condition?: Condition<Category> | undefined;
}

/** @throws DomainError `not_found`, `precondition_failed`, or `category_in_use` while an animal has it or is being given it */
export function decideCategoryDeletion({ category, isUsed }: DeletionState, { id, condition }: Removal): void {
  if (category === undefined) throw categoryNotFound(id);
  condition?.(category);
  if (isUsed) throw categoryInUse(id);
}

function requireFree(name: string, id: CategoryId, namesake: Category | undefined): void {
  if (namesake !== undefined && namesake.id !== id) throw categoryNameTaken(name);
}

/** @throws DomainError `invalid_parameter` */
export function categoryName(name: string): string {
  validateName(name);
  return name;
}

/** @throws DomainError `invalid_parameter` */
export function categoryId(id: bigint): CategoryId {
  if (!isInt64(id)) throw invalid('categoryId', ours`must be an integer from ${INT64_MIN} to ${INT64_MAX}`);
  return id as CategoryId;
}

/** The error for an animal whose category doesn't exist, while the policy is `strict`. */
export function unknownCategory(): DomainError {
  return invalid('categoryId', ours`must be the id of a category`);
}

export function categoryNotFound(id: bigint): DomainError {
  return new DomainError(kernelErrors.not_found, ours`no category has the id ${id}`);
}

export function categoryNameTaken(name: string): DomainError {
  return new DomainError(
    categoryErrors.category_name_taken,
    ours`another category has the name ${JSON.stringify(name)}`,
    {
      field: 'name',
    },
  );
}

export function categoryInUse(id: bigint): DomainError {
  return new DomainError(categoryErrors.category_in_use, ours`an animal has the category ${id}`);
}
