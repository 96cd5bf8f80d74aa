import type { CategoryId } from '../animals/animal.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { decideRemoval, type Removal } from './category.js';
import type { CategoryRepository } from './category-repository.js';

export class RemoveCategory {
  constructor(
    private readonly categories: CategoryRepository,
    private readonly cryptography: Cryptography,
  ) {}

  /** @throws DomainError `not_found`, `precondition_failed`, or `category_in_use` while an animal has it */
  async execute(removal: Removal): Promise<void> {
    const sha256 = (text: string) => this.cryptography.sha256(text);
    return this.categories.remove(removal.id as CategoryId, (state) => {
      decideRemoval(state, removal, sha256);
    });
  }
}
