import { type ListAnimalsInput, PET_STATUSES, type PetStatus } from '@adoption-store/domain';
import { Cursor, Int64s, Limit, OneOf } from '../http/query-parameters.js';

/** The name of this list in its cursors. */
export const ANIMALS_CURSOR = 'pets';

/** The query of GET /v1/pets. Each parameter may occur once, except `id` and `categoryId`. */
export class ListAnimalsQuery implements ListAnimalsInput {
  @Limit()
  limit?: number;

  @OneOf('status', PET_STATUSES, 'Only animals with this status.', 'PetStatus')
  status?: PetStatus;

  @Int64s('id', 'Only these animals.')
  ids?: bigint[];

  @Int64s('categoryId', 'Only animals of these categories.')
  categoryIds?: bigint[];

  @Cursor(ANIMALS_CURSOR)
  after?: bigint;
}
