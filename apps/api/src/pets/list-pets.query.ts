import {
  INT64_MAX,
  INT64_MIN,
  type ListAnimalsInput,
  MAX_IDS,
  PET_STATUSES,
  type PetStatus,
} from '@adoption-store/domain';
import { Expose, Transform } from 'class-transformer';
import { ArrayMaxSize, IsIn, IsOptional, Matches, ValidateIf } from 'class-validator';
import { decodeCursor } from '../http/cursor.js';
import { int64From, IsInt64 } from '../http/validation.js';

/** What a cursor of this list says it is of. */
export const PETS_CURSOR = 'pets';

/** The query of GET /v1/pets, each parameter given once but for `id`. */
export class ListPetsQuery {
  @Expose()
  @IsOptional()
  @Matches(/^(?:[1-9][0-9]?|100)$/, { message: 'limit must be an integer from 1 to 100, given once' })
  limit?: string;

  @Expose()
  @IsOptional()
  @IsIn(PET_STATUSES, { message: `status must be one of ${PET_STATUSES.join(', ')}, given once` })
  status?: PetStatus;

  @Expose({ name: 'id' })
  @Transform(({ value }: { value: unknown }) => (value === undefined ? undefined : [value].flat().map(int64From)))
  @IsOptional()
  @IsInt64({ each: true, message: `id must be an integer from ${INT64_MIN} to ${INT64_MAX}` })
  @ArrayMaxSize(MAX_IDS, { message: `id must be given at most ${MAX_IDS} times` })
  ids?: bigint[];

  @Expose({ name: 'cursor' })
  @Transform(({ value }: { value: unknown }) =>
    value === undefined ? undefined : (decodeCursor(PETS_CURSOR, value) ?? null),
  )
  @ValidateIf((query: ListPetsQuery) => query.after !== undefined)
  @IsInt64({ message: 'cursor must be one that a Link header gave' })
  after?: bigint;

  toInput(): ListAnimalsInput {
    const { limit, status, ids, after } = this;
    return { status, ids, after, limit: limit === undefined ? undefined : Number(limit) };
  }
}
