import { INVISIBLE } from '@adoption-store/domain';

/** A part of the description: a JSON Schema, a response, an operation. Linters and tests check it, not the compiler. */
export type Described = Readonly<Record<string, unknown>>;

export function ref(section: 'schemas' | 'parameters' | 'headers' | 'responses', name: string): Described {
  return { $ref: `#/components/${section}/${name}` };
}

export function schemaRef(name: string): Described {
  return ref('schemas', name);
}

/** An object that requires all these properties but the optional ones. */
export function object(
  description: string,
  properties: Described,
  example?: Described,
  optional: readonly string[] = [],
): Described {
  const examples = example && [example];
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', description, required, properties, examples };
}

const BEYOND_BMP = 0x1_0000;

/**
 * The pattern of a text with a visible character, from the domain's list. It doesn't use `\p`, because Python's `re`,
 * and so the clients that are generated for Python, don't know it. All characters beyond U+FFFF count as visible here,
 * because other languages write them differently, and so do combining marks, which are in 150 ranges.
 */
export const VISIBLE = `[^${INVISIBLE.filter(([, last]) => last < BEYOND_BMP)
  .map((range) => [...new Set(range)].map(escaped).join('-'))
  .join('')}]`;

function escaped(codePoint: number): string {
  return `\\u${codePoint.toString(16).padStart(4, '0')}`;
}

export function int64(description: string, example: number): Described {
  return { type: 'integer', format: 'int64', description, examples: [example] };
}

/** One of these words, for requests: any other is refused. Its type is that of `openSet`: what was read can be sent. */
export function oneOf(words: readonly string[], description: string): Described {
  return wordsOf(words, `${description} One of ${listed(words)}; any other is 400.`);
}

/** One of these words, or one that is added later, for responses: generated clients then accept new words. */
export function openSet(words: readonly string[], description: string): Described {
  return wordsOf(words, `${description} One of ${listed(words)}; more may be added.`);
}

function wordsOf(words: readonly string[], description: string): Described {
  return { type: 'string', description, 'x-extensible-enum': [...words], examples: words.slice(0, 1) };
}

function listed(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

export function time(description: string): Described {
  return { type: 'string', format: 'date-time', description, examples: ['2026-11-21T12:00:00.000Z'] };
}

/** A JSON body with named examples. `schema` is a schema, or the name of one. */
export function json(
  schema: string | Described,
  examples: Described,
  mediaTypes: readonly string[] = ['application/json'],
): Described {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  const body = {
    schema: typeof schema === 'string' ? schemaRef(schema) : schema,
    examples: Object.fromEntries(named) as Described,
  };
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, body]));
}

export function exampleOf(schema: string, name: string): (example: Described) => Described {
  return (example) => json(schema, { [name]: example });
}

export function page(schema: string, ...items: readonly Described[]): Described {
  return json({ type: 'array', items: schemaRef(schema) }, { page: items, 'nothing found': [] });
}

export interface DescribedParameter {
  readonly described: Described & { readonly name: string };
  /** Its name among the shared parameters, if several operations have it. */
  readonly component?: string | undefined;
}

export function parameterIn(
  place: 'path' | 'query' | 'header',
  name: string,
  description: string,
  schema: Described,
): DescribedParameter['described'] {
  return { name, in: place, required: place === 'path' ? true : undefined, description, schema };
}
