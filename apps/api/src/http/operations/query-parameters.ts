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
import type { Type } from '@nestjs/common';
import { decodeCursor } from './pages.js';
import { type DescribedParameter, parameterIn, schemaRef } from './schema.js';
import type { Fault } from './validation.js';

const PARAMETERS = 'parameters';

/** The parameters of a query by name. One that is given several times is an array. */
type GivenParameters = Readonly<Record<string, string | string[] | undefined>>;

/** How a parameter is read. */
interface Reading {
  /** Returns undefined for a value that isn't valid. */
  readonly read: (value: string | string[], all: GivenParameters) => unknown;
  /** What is told about a value that isn't valid. */
  readonly rule: (value: string | string[]) => string;
}

interface QueryParameter extends DescribedParameter, Reading {
  readonly property: string;
}

function Parameter(
  described: DescribedParameter['described'],
  { read, rule }: Reading,
  component?: string,
): PropertyDecorator {
  return (query, property) => {
    const parameter: QueryParameter = { described, component, property: String(property), read, rule };
    Reflect.defineMetadata(PARAMETERS, [...parametersOf(query), parameter], query);
  };
}

export function queryParameters(query: Type<object> | undefined): readonly QueryParameter[] {
  return query === undefined ? [] : parametersOf(query.prototype as object);
}

/** The query as an instance of its class, and what is wrong with it. class-validator takes ten times as long. */
export function readQuery<Query extends object>(type: Type<Query>, given: GivenParameters) {
  const query = new type();
  const faults: Fault[] = [];
  for (const { described, property, read, rule } of queryParameters(type)) {
    const value = given[described.name];
    if (value === undefined) continue;
    const wanted = read(value, given);
    if (wanted !== undefined) {
      Reflect.set(query, property, wanted);
      continue;
    }
    const message = rule(value);
    faults.push({ property, message, kept: message });
  }
  return { query, faults };
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

function parametersOf(query: object): readonly QueryParameter[] {
  return (Reflect.getMetadata(PARAMETERS, query) as readonly QueryParameter[] | undefined) ?? [];
}

const POSITIVE = /^[1-9][0-9]{0,8}$/;

export function Limit(): PropertyDecorator {
  const schema = {
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE_SIZE,
    default: DEFAULT_PAGE_SIZE,
    examples: [DEFAULT_PAGE_SIZE],
  };
  return Parameter(
    parameterIn('query', 'limit', 'The most items on the page.', schema),
    {
      read: (value) =>
        typeof value === 'string' && POSITIVE.test(value) && Number(value) <= MAX_PAGE_SIZE ? Number(value) : undefined,
      rule: () => `limit must be an integer from 1 to ${MAX_PAGE_SIZE}, given once`,
    },
    'Limit',
  );
}

/** The query parameter `name` with one of these values. `schema` is the name of their schema. */
export function OneOf(name: string, words: readonly string[], description: string, schema: string): PropertyDecorator {
  const allowed = words.length === 1 ? words.join() : `one of ${words.join(', ')}`;
  return Parameter(parameterIn('query', name, description, schemaRef(schema)), {
    read: (value) => (typeof value === 'string' && words.includes(value) ? value : undefined),
    rule: () => `${name} must be ${allowed}, given once`,
  });
}

/** The query parameter `name` with one of these values. It may be given once for each of them. */
export function SomeOf(name: string, words: readonly string[], description: string, schema: string): PropertyDecorator {
  const array = { type: 'array', maxItems: words.length, items: schemaRef(schema), examples: [words.slice(0, 2)] };
  return Several(parameterIn('query', name, `${description} Repeat the parameter for several.`, array), {
    most: words.length,
    read: (value) => (words.includes(value) ? value : undefined),
    rule: `must be one of ${words.join(', ')}; ${severalOf(name, words)}`,
  });
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
  return Several(parameterIn('query', name, `${description} ${repeated}`, schema), {
    most: MAX_IDS,
    read: int64From,
    rule: `must be an integer from ${INT64_MIN} to ${INT64_MAX}; ${severalOf(name, [1, 2])}`,
  });
}

interface EachOf {
  readonly most: number;
  readonly read: (value: string) => unknown;
  readonly rule: string;
}

/** A parameter that may be given several times, read as an array. */
function Several(described: DescribedParameter['described'], { most, read, rule }: EachOf): PropertyDecorator {
  const { name } = described;
  const all = (value: string | string[]) => (typeof value === 'string' ? [value] : value);
  const wanted = (value: string | string[]) => {
    const values = all(value).map((each) => read(each));
    return values.length > most || values.includes(undefined) ? undefined : values;
  };
  return Parameter(
    { ...described, style: 'form', explode: true },
    {
      read: wanted,
      rule: (value) => (all(value).length > most ? `${name} must be given at most ${most} times` : `${name} ${rule}`),
    },
  );
}

/** The query parameter `name`, the beginning of an animal's name. */
export function NamePrefix(): PropertyDecorator {
  const description =
    'Beta. Only animals whose name begins with this text, compared in Unicode NFC and without regard to case. They are ' +
    'ordered by the folded name, then by identifier. One request looks at 10,000 such names at most: with other ' +
    'filters a page may be short, even empty, and still have a `Link` to the next one. Follow it until there is none.';
  const schema = { type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH, examples: ['Lu'] };
  return Parameter(parameterIn('query', 'name', description, schema), {
    read: (value) => (typeof value === 'string' && isNamePrefix(value) ? value : undefined),
    rule: () => `name ${NAME_PREFIX_RULE}, given once`,
  });
}

/**
 * The query parameter `cursor`, decoded to the position where the previous page ended. Cursors of other lists are refused.
 *
 * @param read reads the position, in a query with these parameters. Default: the last id, an int64.
 */
export function Cursor(
  resource: string,
  read: (text: string, parameters: GivenParameters) => unknown = int64From,
): PropertyDecorator {
  const description =
    "The position of the page. Use the `Link` header of the previous page; don't build or parse a cursor.";
  return Parameter(
    parameterIn('query', 'cursor', description, { type: 'string' }),
    {
      read: (value, all) => decodeCursor(resource, value, (text) => read(text, all)),
      rule: () => 'cursor must be one that a Link header gave',
    },
    'Cursor',
  );
}
