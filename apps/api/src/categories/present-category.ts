import { type Category, categoryVersion } from '@adoption-store/domain';
import { entityTag, sha256 } from '../http/conditions.js';
import { categorySchemas } from './category.schema.js';

/** The JSON of a category: a Category. */
export const presentCategory: (category: Category) => string = categorySchemas.serialiser('Category');

export const presentCategories: (categories: readonly Category[]) => string =
  categorySchemas.listSerialiser('Category');

/** The entity tag of a Category: its version. */
export function categoryTag(category: Category): string {
  return entityTag(categoryVersion(category, sha256));
}
