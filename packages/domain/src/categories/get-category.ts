import type { CategoryId } from '../animals/animal.js';
import { type Category, categoryNotFound } from './category.js';
import type { CategoryPorts } from './ports.js';

export class GetCategory {
  constructor(private readonly ports: Pick<CategoryPorts, 'categories'>) {}

  /** @throws DomainError `not_found` */
  async execute(id: bigint): Promise<Category> {
    const category = await this.ports.categories.findById(id as CategoryId);
    if (category === undefined) throw categoryNotFound(id);
    return category;
  }
}
