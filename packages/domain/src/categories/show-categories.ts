import type { CategoryId } from '../animals/animal.js';
import { type PagePlace, readTwoWayPage, type TwoWayPage } from '../kernel/page.js';
import type { Category } from './category.js';
import type { CategoryRepository } from './category-repository.js';

/** A page of categories, ascending by id, with the way back. */
export class ShowCategories {
  constructor(private readonly categories: CategoryRepository) {}

  async execute(place: PagePlace<bigint>): Promise<TwoWayPage<Category, CategoryId>> {
    return readTwoWayPage(
      place as PagePlace<CategoryId>,
      ({ id }) => id,
      (part) => this.categories.list(part),
    );
  }
}
