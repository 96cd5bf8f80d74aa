import {
  INT64_MAX,
  INT64_MIN,
  type ListAnimalsInput,
  MAX_IDS,
  PET_STATUSES,
  type PetStatus,
} from '@adoption-store/domain';
import { Expose, Transform } from 'class-transformer';
import { ArrayMaxSize, IsOptional } from 'class-validator';
import { Cursor, Limit, OneOf } from '../requests/list-parameters.js';
import type { ListQuery, Parameter } from '../responses/next-page.js';
import { int64From, IsInt64 } from '../requests/validation.js';

/** The name of this list in its cursors. */
export const PETS_CURSOR = 'pets';

/** The query of GET /v1/pets. Each parameter may occur once, except `id`. */
export class ListPetsQuery implements ListAnimalsInput, ListQuery {
  @Limit()
  limit?: number;

  @OneOf(PET_STATUSES)
  status?: PetStatus;

  @Expose({ name: 'id' })
  @Transform(({ value }: { value: unknown }) => (value === undefined ? undefined : [value].flat().map(int64From)))
  @IsOptional()
  @IsInt64({ each: true, message: `id must be an integer from ${INT64_MIN} to ${INT64_MAX}` })
  @ArrayMaxSize(MAX_IDS, { message: `id must be given at most ${MAX_IDS} times` })
  ids?: bigint[];

  @Cursor(PETS_CURSOR)
  after?: bigint;

  parameters(): readonly Parameter[] {
    const { limit, status, ids = [] } = this;
    return [['limit', limit], ['status', status], ...ids.map((id): Parameter => ['id', id])];
  }
}
