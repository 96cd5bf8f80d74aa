import {
  DEFAULT_PAGE_SIZE,
  INT64_MAX,
  INT64_MIN,
  isNamePrefix,
  MAX_IDS,
  MAX_NAME_LENGTH,
  MAX_PAGE_SIZE,
  NAME_PREFIX_RULE,
  int64From,
} from '@adoption-store/domain';
import { applyDecorators, type Type } from '@nestjs/common';
import { Expose, Transform } from 'class-transformer';
import { ArrayMaxSize, IsIn, IsInt, IsOptional, NotEquals, ValidateBy } from 'class-validator';
import { decodeCursor } from './pages.js';
import { type DescribedParameter, parameterIn, schemaRef } from './schema.js';
import { IsInt64 } from './validation.js';

const PARAMETERS = 'parameters';

function Parameter(described: DescribedParameter['described'], component?: string): PropertyDecorator {
  return applyDecorators(Expose({ name: described.name }), (query: object) => {
    Reflect.defineMetadata(PARAMETERS, [...parametersOf(query), { described, component }], query);
  });
}

export function queryParameters(query: Type<object> | undefined): readonly DescribedParameter[] {
  return query === undefined ? [] : parametersOf(query.prototype as object);
}

/** Which of the given parameters are unknown. They are refused, or a list with a misspelt filter would return everything. */
export function parameterNames(given: readonly string[], query?: Type<object>) {
  const known = queryParameters(query).map(({ described }) => described.name);
  return {
    unknown: given.filter((name) => !known.includes(name)),
    known,
    one: 'a query parameter of this operation',
    several: 'query parameters of this operation',
    rule: known.length === 0 ? 'which has none' : `only ${known.join(', ')}`,
  };
}

function parametersOf(query: object): readonly DescribedParameter[] {
  return (Reflect.getMetadata(PARAMETERS, query) as readonly DescribedParameter[] | undefined) ?? [];
}

const POSITIVE = /^[1-9][0-9]{0,8}$/;

export function Limit(): PropertyDecorator {
  return applyDecorators(
    Parameter(
      parameterIn('query', 'limit', 'The most items on the page.', {
        type: 'integer',
        minimum: 1,
        maximum: MAX_PAGE_SIZE,
        default: DEFAULT_PAGE_SIZE,
        examples: [DEFAULT_PAGE_SIZE],
      }),
      'Limit',
    ),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && POSITIVE.test(value) && Number(value) <= MAX_PAGE_SIZE ? Number(value) : value,
    ),
    IsOptional(),
    IsInt({ message: `limit must be an integer from 1 to ${MAX_PAGE_SIZE}, given once` }),
  );
}

/** The query parameter `name` with one of these values. `schema` is the name of their schema. */
export function OneOf(name: string, words: readonly string[], description: string, schema: string): PropertyDecorator {
  const allowed = words.length === 1 ? words.join() : `one of ${words.join(', ')}`;
  return applyDecorators(
    Parameter(parameterIn('query', name, description, schemaRef(schema))),
    IsOptional(),
    IsIn(words, { message: `${name} must be ${allowed}, given once` }),
  );
}

/** The query parameter `name` with one of these values. It may be given once for each of them. */
export function SomeOf(name: string, words: readonly string[], description: string, schema: string): PropertyDecorator {
  const repeated = 'Repeat the parameter for several.';
  const array = { type: 'array', maxItems: words.length, items: schemaRef(schema), examples: [words.slice(0, 2)] };
  return applyDecorators(
    Parameter({ ...parameterIn('query', name, `${description} ${repeated}`, array), style: 'form', explode: true }),
    Transform(({ value }: { value: unknown }) => (value === undefined ? undefined : [value].flat())),
    IsOptional(),
    IsIn(words, { each: true, message: `${name} must be one of ${words.join(', ')}; ${severalOf(name, words)}` }),
    ArrayMaxSize(words.length, { message: `${name} must be given at most ${words.length} times` }),
  );
}

/** For callers that separate values by commas. */
function severalOf(name: string, values: readonly (string | number)[]): string {
  const example = values.slice(0, 2).map((value) => `${name}=${value}`);
  return `for several, repeat the parameter: ${example.join('&')}`;
}

/** The query parameter `name` with a 64-bit integer. It may be given several times. */
export function Int64s(name: string, description: string): PropertyDecorator {
  const repeated = `Repeat the parameter for several, up to ${MAX_IDS} times. Unknown ids are left out.`;
  const schema = {
    type: 'array',
    maxItems: MAX_IDS,
    items: { type: 'integer', format: 'int64', examples: [1] },
    examples: [[1, 2]],
  };
  return applyDecorators(
    Parameter({ ...parameterIn('query', name, `${description} ${repeated}`, schema), style: 'form', explode: true }),
    Transform(({ value }: { value: unknown }) => (value === undefined ? undefined : [value].flat().map(int64From))),
    IsOptional(),
    IsInt64({
      each: true,
      message: `${name} must be an integer from ${INT64_MIN} to ${INT64_MAX}; ${severalOf(name, [1, 2])}`,
    }),
    ArrayMaxSize(MAX_IDS, { message: `${name} must be given at most ${MAX_IDS} times` }),
  );
}

/** The query parameter `name`, the beginning of an animal's name. */
export function NamePrefix(): PropertyDecorator {
  const description =
    'Beta. Only animals whose name begins with this text, compared in Unicode NFC and without regard to case. They are ' +
    'ordered by the folded name, then by identifier. One request looks at 10,000 such names at most: with other ' +
    'filters a page may be short, even empty, and still have a `Link` to the next one. Follow it until there is none.';
  const schema = { type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH, examples: ['Lu'] };
  const validate = (value: unknown) => typeof value === 'string' && isNamePrefix(value);
  const defaultMessage = () => `name ${NAME_PREFIX_RULE}, given once`;
  return applyDecorators(
    Parameter(parameterIn('query', 'name', description, schema)),
    IsOptional(),
    ValidateBy({ name: 'isNamePrefix', validator: { validate, defaultMessage } }),
  );
}

/**
 * The query parameter `cursor`, decoded to the position where the previous page ended. Cursors of other lists are refused.
 *
 * @param read reads the position, in a query with these parameters. Default: the last id, an int64.
 */
export function Cursor(
  resource: string,
  read: (text: string, parameters: Readonly<Record<string, unknown>>) => unknown = int64From,
): PropertyDecorator {
  return applyDecorators(
    Parameter(
      parameterIn(
        'query',
        'cursor',
        "The position of the page. Use the `Link` header of the previous page; don't build or parse a cursor.",
        { type: 'string' },
      ),
      'Cursor',
    ),
    // An invalid cursor becomes false, which is refused. Undefined would count as absent.
    Transform(({ value, obj }: { value: unknown; obj: Readonly<Record<string, unknown>> }) =>
      value === undefined ? undefined : (decodeCursor(resource, value, (text) => read(text, obj)) ?? false),
    ),
    IsOptional(),
    NotEquals(false, { message: 'cursor must be one that a Link header gave' }),
  );
}
