import type { WantedVersions } from '../kernel/version.js';
import { type Category, categoryId, categoryName } from './category.js';
import type { CategoryRepository } from './category-repository.js';

export interface NameCategoryInput {
  /** Any int64: also one that animals carry already. */
  readonly id: bigint;
  readonly name: string;
  /** `any`: the id must have a name; `none`: it must have none yet. Default: it may have one or not. */
  readonly versions?: WantedVersions | 'any' | 'none';
}

export class NameCategory {
  constructor(private readonly categories: CategoryRepository) {}

  /**
   * Names the id, or gives it another name.
   *
   * @throws DomainError `invalid_parameter`, `precondition_failed` or `category_name_taken`
   */
  async execute({
    id,
    name,
    versions,
  }: NameCategoryInput): Promise<{ readonly category: Category; readonly isNew: boolean }> {
    const category = { id: categoryId(id), name: categoryName(name) };
    return { category, isNew: await this.categories.name(category, versions) };
  }
}
