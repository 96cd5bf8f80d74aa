import type { CategoryId } from '../animals/animal.js';
import { decideRemoval, type Removal } from './category.js';
import type { CategoryPorts } from './ports.js';

export class RemoveCategory {
  constructor(private readonly ports: Pick<CategoryPorts, 'categories'>) {}

  /** @throws DomainError `not_found`, `precondition_failed`, or `category_in_use` while an animal has it */
  async execute(removal: Removal): Promise<void> {
    return this.ports.categories.remove(removal.id as CategoryId, (state) => {
      decideRemoval(state, removal);
    });
  }
}
