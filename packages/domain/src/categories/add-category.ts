import type { Transaction } from '../kernel/transaction.js';
import { type Category, categoryName } from './category.js';
import type { CategoryRepository } from './category-repository.js';

export interface AddCategoryInput {
  readonly name: string;
}

export class AddCategory {
  constructor(private readonly categories: CategoryRepository) {}

  /** @throws DomainError `invalid_parameter` or `category_name_taken` */
  async execute({ name }: AddCategoryInput, transaction?: Transaction): Promise<Category> {
    return this.categories.add(categoryName(name), transaction);
  }
}
