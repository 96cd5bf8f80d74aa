import type { CategoryId } from '../animals/animal.js';
import type { WantedVersions } from '../kernel/version.js';
import { categoryNotFound } from './category.js';
import type { CategoryRepository } from './category-repository.js';

export interface RemoveCategoryInput {
  readonly id: bigint;
  /** Default: any version. */
  readonly versions?: WantedVersions;
}

export class RemoveCategory {
  constructor(private readonly categories: CategoryRepository) {}

  /** @throws DomainError `not_found`, `precondition_failed`, or `category_in_use` while an animal has it */
  async execute({ id, versions }: RemoveCategoryInput): Promise<void> {
    if (!(await this.categories.remove(id as CategoryId, versions))) throw categoryNotFound(id);
  }
}
