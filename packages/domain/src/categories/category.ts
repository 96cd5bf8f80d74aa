import { type CategoryId, validateName } from '../animals/animal.js';
import { DomainError, invalid } from '../kernel/errors.js';
import { INT64_MAX, INT64_MIN, isInt64 } from '../kernel/int64.js';
import { type Sha256, versionOf } from '../kernel/version.js';

/** A name for an id that animals carry. An animal may carry an id without a name, unless the policy is `strict`. */
export interface Category {
  readonly id: CategoryId;
  /** The rules are those of an animal's name. No two categories have the same `categoryNameKey`. */
  readonly name: string;
}

/** Whether animals may be put into unknown categories: `strict` refuses that. */
export type CategoryPolicy = 'open' | 'strict';

/**
 * The form in which names are compared: without regard to case. Several lower-case letters may have one upper-case form
 * (σ and ς), and one may have several letters (ß and SS), so it is the lower case of the upper case. Lower case first,
 * because ẞ is its own upper case.
 */
export function categoryNameKey(name: string): string {
  return name.toLowerCase().toUpperCase().toLowerCase();
}

/** Identifies the category's content: the same fields have the same version, on every instance. */
export function categoryVersion({ id, name }: Category, sha256: Sha256): string {
  return versionOf([id, name], sha256);
}

/** @throws DomainError `invalid_parameter` */
export function categoryName(name: string): string {
  validateName(name);
  return name;
}

/** @throws DomainError `invalid_parameter` */
export function categoryId(id: bigint): CategoryId {
  if (!isInt64(id)) throw invalid('categoryId', `must be an integer from ${INT64_MIN} to ${INT64_MAX}`);
  return id as CategoryId;
}

/** Of an animal that is put into a category that isn't there, while the policy is `strict`. */
export function unknownCategory(): DomainError {
  return invalid('categoryId', 'must be the id of a category');
}

export function categoryNotFound(id: bigint): DomainError {
  return new DomainError('not_found', `no category has the id ${id}`);
}

export function categoryNameTaken(name: string): DomainError {
  return new DomainError('category_name_taken', `another category has the name ${JSON.stringify(name)}`);
}

export function categoryInUse(id: bigint): DomainError {
  return new DomainError('category_in_use', `an animal has the category ${id}`);
}
