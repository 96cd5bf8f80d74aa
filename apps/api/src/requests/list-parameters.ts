import { MAX_PAGE_SIZE } from '@adoption-store/domain';
import { applyDecorators } from '@nestjs/common';
import { Expose, Transform } from 'class-transformer';
import { IsIn, IsInt, IsOptional } from 'class-validator';
import { decodeCursor } from '../responses/next-page.js';
import { IsInt64 } from './validation.js';

const LIMIT = /^(?:[1-9][0-9]?|100)$/;

/** The query parameter `limit`, as a number. */
export function Limit(): PropertyDecorator {
  return applyDecorators(
    Expose({ name: 'limit' }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && LIMIT.test(value) ? Number(value) : value,
    ),
    IsOptional(),
    IsInt({ message: `limit must be an integer from 1 to ${MAX_PAGE_SIZE}, given once` }),
  );
}

/** A query parameter with one of these values. */
export function OneOf(words: readonly string[]): PropertyDecorator {
  return applyDecorators(
    Expose(),
    IsOptional(),
    IsIn(words, { message: `$property must be one of ${words.join(', ')}, given once` }),
  );
}

/** The query parameter `cursor`, decoded to the last id of the previous page. Cursors of other lists are refused. */
export function Cursor(resource: string): PropertyDecorator {
  return applyDecorators(
    Expose({ name: 'cursor' }),
    // An unreadable cursor becomes false, because undefined would count as absent.
    Transform(({ value }: { value: unknown }) =>
      value === undefined ? undefined : (decodeCursor(resource, value) ?? false),
    ),
    IsOptional(),
    IsInt64({ message: 'cursor must be one that a Link header gave' }),
  );
}
