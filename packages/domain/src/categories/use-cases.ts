import type { CategoryId } from '../animals/animal.js';
import { type Page, type PageRequest, readPage, requireFewIds } from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import {
  type Category,
  categoryId,
  categoryName,
  categoryNotFound,
  decideAddition,
  decideNaming,
  decideCategoryDeletion,
  type NamedCategory,
  type Naming,
  type Removal,
} from './category.js';
import type { CategoryPorts } from './ports.js';

export class AddCategory {
  constructor(private readonly ports: Pick<CategoryPorts, 'categories'>) {}

  /** @throws DomainError `invalid_parameter` or `category_name_taken` */
  async execute(addition: Pick<Category, 'name'>, transaction?: Transaction): Promise<Category> {
    const name = categoryName(addition.name);
    return this.ports.categories.add(name, (state) => decideAddition(state, { name }), transaction);
  }
}

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

export class GetCategory {
  constructor(private readonly ports: Pick<CategoryPorts, 'categories'>) {}

  /** @throws DomainError `not_found` */
  async execute(id: bigint): Promise<Category> {
    const category = await this.ports.categories.findById(id as CategoryId);
    if (category === undefined) throw categoryNotFound(id);
    return category;
  }
}

export class FindCategory {
  constructor(private readonly ports: Pick<CategoryPorts, 'categories'>) {}

  /**
   * The category with this name, without regard to case.
   *
   * @throws DomainError `invalid_parameter` if no category can have it.
   */
  async execute(name: string): Promise<Category | undefined> {
    return this.ports.categories.findByName(categoryName(name));
  }
}

export interface NameCategoryInput extends Omit<Naming, 'id'> {
  /** Any int64. Animals may have it as their `categoryId` already. */
  readonly id: bigint;
}

export class NameCategory {
  constructor(private readonly ports: Pick<CategoryPorts, 'categories'>) {}

  /**
   * Gives the id a name, or another one.
   *
   * @throws DomainError `invalid_parameter`, `precondition_failed` or `category_name_taken`
   */
  async execute({ id, name, condition }: NameCategoryInput): Promise<NamedCategory> {
    const wanted = { id: categoryId(id), name: categoryName(name) };
    return this.ports.categories.name(wanted, (state) => decideNaming(state, { ...wanted, condition }));
  }
}

export class DeleteCategory {
  constructor(private readonly ports: Pick<CategoryPorts, 'categories'>) {}

  /** @throws DomainError `not_found`, `precondition_failed`, or `category_in_use` while an animal has it or is being given it */
  async execute(removal: Removal): Promise<void> {
    return this.ports.categories.delete(removal.id as CategoryId, (state) => {
      decideCategoryDeletion(state, removal);
    });
  }
}
