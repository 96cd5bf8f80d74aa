import type { Cryptography } from '../kernel/cryptography.js';
import { categoryId, categoryName, decideNaming, type NamedCategory, type Naming } from './category.js';
import type { CategoryRepository } from './category-repository.js';

export interface NameCategoryInput extends Omit<Naming, 'id'> {
  /** Any int64: also one that animals carry already. */
  readonly id: bigint;
}

export class NameCategory {
  constructor(
    private readonly categories: CategoryRepository,
    private readonly cryptography: Cryptography,
  ) {}

  /**
   * Names the id, or gives it another name.
   *
   * @throws DomainError `invalid_parameter`, `precondition_failed` or `category_name_taken`
   */
  async execute({ id, name, versions }: NameCategoryInput): Promise<NamedCategory> {
    const wanted = { id: categoryId(id), name: categoryName(name) };
    return this.categories.name(wanted, (state) =>
      decideNaming(state, { ...wanted, versions }, (text) => this.cryptography.sha256(text)),
    );
  }
}
