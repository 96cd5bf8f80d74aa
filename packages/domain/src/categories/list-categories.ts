import type { CategoryId } from '../animals/animal.js';
import { requireFewIds } from '../kernel/ids.js';
import { type Page, readPage } from '../kernel/page.js';
import type { Category } from './category.js';
import type { CategoryRepository } from './category-repository.js';

export interface ListCategoriesInput {
  /** Only these categories, at most 100. */
  readonly ids?: readonly bigint[] | undefined;
  /** The end of the previous page. */
  readonly after?: bigint | undefined;
  /** 1–100. Default: 20. */
  readonly limit?: number | undefined;
}

export class ListCategories {
  constructor(private readonly categories: CategoryRepository) {}

  /** @throws DomainError `invalid_parameter` */
  async execute({ ids, after, limit }: ListCategoriesInput = {}): Promise<Page<Category>> {
    requireFewIds('id', ids);
    return readPage(limit, (most) =>
      this.categories.list({
        ids: ids as readonly CategoryId[] | undefined,
        after: after as CategoryId | undefined,
        limit: most,
      }),
    );
  }
}
