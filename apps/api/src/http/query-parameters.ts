import { INT64_MAX, INT64_MIN, MAX_IDS, MAX_PAGE_SIZE, int64From } from '@adoption-store/domain';
import { applyDecorators, type Type } from '@nestjs/common';
import { Expose, Transform } from 'class-transformer';
import { ArrayMaxSize, IsIn, IsInt, IsOptional } from 'class-validator';
import { HttpRefusal } from './error-codes.js';
import { decodeCursor } from './pages.js';
import { IsInt64 } from './validation.js';

/** The key of the metadata on a query's class: the names of its parameters. */
const NAMES = 'parameters';
const LONGEST_SHOWN = 50;

/** A query parameter, under that name in the URL. */
function Parameter(name: string): PropertyDecorator {
  return applyDecorators(Expose({ name }), (query: object) => {
    Reflect.defineMetadata(NAMES, [...namesOf(query), name], query);
  });
}

/** Refuses the first parameter that the query's class doesn't have, so that a misspelt filter never lists everything. */
export function requireKnownParameters(given: readonly string[], query?: Type<object>): void {
  const names = query === undefined ? [] : namesOf(query.prototype as object);
  const unknown = given.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const shown = JSON.stringify(unknown.slice(0, LONGEST_SHOWN));
  const known = names.length === 0 ? 'which has none' : `only ${names.join(', ')}`;
  throw new HttpRefusal('invalid_parameter', `${shown} is not a query parameter of this operation, ${known}`);
}

function namesOf(query: object): readonly string[] {
  return (Reflect.getMetadata(NAMES, query) as readonly string[] | undefined) ?? [];
}

const LIMIT = /^(?:[1-9][0-9]?|100)$/;

/** The query parameter `limit`, as a number. */
export function Limit(): PropertyDecorator {
  return applyDecorators(
    Parameter('limit'),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && LIMIT.test(value) ? Number(value) : value,
    ),
    IsOptional(),
    IsInt({ message: `limit must be an integer from 1 to ${MAX_PAGE_SIZE}, given once` }),
  );
}

/** The query parameter `name` with one of these values. */
export function OneOf(name: string, words: readonly string[]): PropertyDecorator {
  return applyDecorators(
    Parameter(name),
    IsOptional(),
    IsIn(words, { message: `${name} must be one of ${words.join(', ')}, given once` }),
  );
}

/** The query parameter `name` with a 64-bit integer, which may be given several times. */
export function Int64s(name: string): PropertyDecorator {
  return applyDecorators(
    Parameter(name),
    Transform(({ value }: { value: unknown }) => (value === undefined ? undefined : [value].flat().map(int64From))),
    IsOptional(),
    IsInt64({ each: true, message: `${name} must be an integer from ${INT64_MIN} to ${INT64_MAX}` }),
    ArrayMaxSize(MAX_IDS, { message: `${name} must be given at most ${MAX_IDS} times` }),
  );
}

/** The query parameter `cursor`, decoded to the last id of the previous page. Cursors of other lists are refused. */
export function Cursor(resource: string): PropertyDecorator {
  return applyDecorators(
    Parameter('cursor'),
    // An unreadable cursor becomes false, because undefined would count as absent.
    Transform(({ value }: { value: unknown }) =>
      value === undefined ? undefined : (decodeCursor(resource, value) ?? false),
    ),
    IsOptional(),
    IsInt64({ message: 'cursor must be one that a Link header gave' }),
  );
}
