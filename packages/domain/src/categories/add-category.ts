import type { Transaction } from '../kernel/transaction.js';
import { type Category, categoryName, decideAddition } from './category.js';
import type { CategoryPorts } from './ports.js';

export class AddCategory {
  constructor(private readonly ports: Pick<CategoryPorts, 'categories'>) {}

  /** @throws DomainError `invalid_parameter` or `category_name_taken` */
  async execute(addition: Pick<Category, 'name'>, transaction?: Transaction): Promise<Category> {
    const name = categoryName(addition.name);
    return this.ports.categories.add(name, (state) => decideAddition(state, { name }), transaction);
  }
}
