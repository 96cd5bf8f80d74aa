import {
  type Category,
  nameKey,
  DomainError,
  FindCategory,
  int64From,
  invalid,
  ListCategories,
} from '@adoption-store/domain';
import { Injectable } from '@nestjs/common';
import { int64, isInteger } from '../http/lists.js';

/** What is offered of a category ends with its id. */
const OFFERED = / \((-?\d+)\)$/;

/** What a form offers of a category, such as `Dogs (7)`. An input has only one line. */
export function offered({ id, name }: Category): string {
  return `${inOneLine(name)} (${id})`;
}

/** Reads the category that a person has chosen: digits are an id, all else is what was offered, or a name. */
@Injectable()
export class CategoryChoice {
  constructor(
    private readonly listCategories: ListCategories,
    private readonly findCategory: FindCategory,
  ) {}

  /** Returns a check of the field `categoryId`, to tell its problem beside those of other fields. */
  async read(text: string): Promise<() => bigint> {
    const typed = inOneLine(text);
    if (isInteger(typed)) return () => int64(typed, 'categoryId');
    const category = (await this.findOffered(typed)) ?? (await this.findNamed(text)) ?? (await this.findNamed(typed));
    return () => {
      if (typed === '') throw invalid('categoryId', 'must be a name or an id');
      if (category === undefined) throw invalid('categoryId', 'must be the name of a category, or an id');
      return category.id;
    };
  }

  async find(id: bigint): Promise<Category | undefined> {
    const { items } = await this.listCategories.execute({ ids: [id] });
    return items[0];
  }

  private async findOffered(text: string): Promise<Category | undefined> {
    const id = int64From(OFFERED.exec(text)?.[1]);
    const category = id === undefined ? undefined : await this.find(id);
    return category && keyOf(offered(category)) === keyOf(text) ? category : undefined;
  }

  private async findNamed(name: string): Promise<Category | undefined> {
    try {
      return await this.findCategory.execute(name);
    } catch (error) {
      // No category can have it.
      if (error instanceof DomainError && error.kind === 'invalid') return undefined;
      throw error;
    }
  }
}

function keyOf(text: string): string {
  return nameKey(text).normalize('NFC');
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
