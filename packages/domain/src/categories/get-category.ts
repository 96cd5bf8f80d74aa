import type { CategoryId } from '../animals/animal.js';
import { type Category, categoryNotFound } from './category.js';
import type { CategoryRepository } from './category-repository.js';

export class GetCategory {
  constructor(private readonly categories: CategoryRepository) {}

  /** @throws DomainError `not_found` */
  async execute(id: bigint): Promise<Category> {
    const category = await this.categories.findById(id as CategoryId);
    if (category === undefined) throw categoryNotFound(id);
    return category;
  }
}
