import { categoryId, categoryName, decideNaming, type NamedCategory, type Naming } from './category.js';
import type { CategoryPorts } from './ports.js';

export interface NameCategoryInput extends Omit<Naming, 'id'> {
  /** Any int64: also one that animals carry already. */
  readonly id: bigint;
}

export class NameCategory {
  constructor(private readonly ports: Pick<CategoryPorts, 'categories'>) {}

  /**
   * Names the id, or gives it another name.
   *
   * @throws DomainError `invalid_parameter`, `precondition_failed` or `category_name_taken`
   */
  async execute({ id, name, condition }: NameCategoryInput): Promise<NamedCategory> {
    const wanted = { id: categoryId(id), name: categoryName(name) };
    return this.ports.categories.name(wanted, (state) => decideNaming(state, { ...wanted, condition }));
  }
}
