import type { ListCategoriesInput } from '@adoption-store/domain';
import { Cursor, Int64s, Limit } from '../http/query-parameters.js';

/** The name of this list in its cursors. */
export const CATEGORIES_CURSOR = 'categories';

/** The query of GET /v1/categories. Each parameter may occur once, except `id`. */
export class ListCategoriesQuery implements ListCategoriesInput {
  @Limit()
  limit?: number;

  @Int64s('id', 'Only these categories.')
  ids?: bigint[];

  @Cursor(CATEGORIES_CURSOR)
  after?: bigint;
}
