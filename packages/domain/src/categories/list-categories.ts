import type { CategoryId } from '../animals/animal.js';
import { type Page, type PageRequest, readPage, requireFewIds } from '../kernel/page.js';
import type { Category } from './category.js';
import type { CategoryPorts } from './ports.js';

export interface ListCategoriesInput extends PageRequest<bigint> {
  /** Only these categories, at most 100. */
  readonly ids?: readonly bigint[] | undefined;
}

/** A page of categories, ascending by id. */
export class ListCategories {
  constructor(private readonly ports: Pick<CategoryPorts, 'categories'>) {}

  /** @throws DomainError `invalid_parameter` */
  async execute({ ids, ...page }: ListCategoriesInput = {}): Promise<Page<Category, CategoryId>> {
    requireFewIds('id', ids);
    return readPage(
      page as PageRequest<CategoryId>,
      ({ id }) => id,
      (part) => this.ports.categories.list({ ids: ids as readonly CategoryId[] | undefined, ...part }),
    );
  }
}
