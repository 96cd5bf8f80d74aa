import { checkAll, INT64_MAX, INT64_MIN, invalid, type Page, type PagePlace, int64From } from '@adoption-store/domain';
import { createParamDecorator, type ExecutionContext, NotFoundException } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Form, Paging } from './views.js';
import { fields, problemsOf } from './forms.js';

type Check<Value> = (text: string, name: string) => Value;
type Checks = Readonly<Record<string, Check<unknown>>>;
type Checked<Each extends Checks> = { readonly [Name in keyof Each]: ReturnType<Each[Name]> | undefined };

/**
 * The parameters of a list's address, each checked if it isn't empty. A list whose filter can't be understood shows its
 * problems, and nothing else: a misspelt filter never lists everything.
 */
export function filterFrom<Each extends Checks>(
  query: unknown,
  checks: Each,
): { readonly form: Form; readonly wanted: Checked<Each> | undefined } {
  const sent = new Map<string, unknown>(Object.entries(typeof query === 'object' && query !== null ? query : {}));
  const values = fields(query, ...Object.keys(checks));
  try {
    const wanted = checkAll(
      Object.fromEntries(
        Object.entries(checks).map(([name, check]) => [
          name,
          () => {
            if (Array.isArray(sent.get(name))) throw invalid(name, 'must be given once');
            const text = (values[name] ?? '').trim();
            return text === '' ? undefined : check(text, name);
          },
        ]),
      ),
    ) as Checked<Each>;
    return { form: { values, problems: {} }, wanted };
  } catch (error) {
    return { form: { values, problems: problemsOf(error, ...Object.keys(checks)) }, wanted: undefined };
  }
}

/** A check of `filterFrom`, and of a form's field. @throws InvalidInput */
export function int64(text: string, name: string): bigint {
  const value = int64From(text.trim());
  if (value === undefined) throw invalid(name, `must be a whole number from ${INT64_MIN} to ${INT64_MAX}`);
  return value;
}

/** The id in the page's path. @throws NotFoundException */
export const Id = createParamDecorator((_: unknown, context: ExecutionContext): bigint => {
  const { params } = context.switchToHttp().getRequest<FastifyRequest<{ Params: { id: string } }>>();
  const id = int64From(params.id);
  if (id === undefined) throw new NotFoundException();
  return id;
});

/** A check of `filterFrom`, and of a form's field. @throws InvalidInput */
export function oneOf<Choice extends string>(choices: readonly Choice[]): Check<Choice> {
  return (text, name) => {
    const found = choices.find((choice) => choice === text);
    if (found === undefined) throw invalid(name, `must be one of ${choices.join(', ')}`);
    return found;
  };
}

/** The place of a page, from its address. Without one that can be read it is the first page. */
export function placeFrom<Place>(query: unknown, read: (text: string) => Place | undefined): PagePlace<Place> {
  const { after, before } = fields(query, 'after', 'before');
  return after === '' ? { before: read(before) } : { after: read(after) };
}

/** The page of a list, ascending by id, that shows this one among those before it. */
export function placeOf(id: bigint): PagePlace<bigint> {
  return id === INT64_MAX ? { after: id - 1n } : { before: id + 1n };
}

/** The page that a list shows if its filter cannot be read. */
export const EMPTY_PAGE = { items: [], next: undefined, previous: undefined } as const;

/** An address with its parameters. Those that are empty or undefined are left out. */
export function address(path: string, parameters: Readonly<Record<string, bigint | string | undefined>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** The addresses of the pages around a page of a list. `filter` has the other parameters of its address. */
export function pagingOf<Place>(
  path: string,
  filter: Readonly<Record<string, bigint | string | undefined>>,
  { after }: PagePlace<Place>,
  { previous, next }: Pick<Page<unknown, Place>, 'previous' | 'next'>,
  write: (place: Place) => string = String,
): Paging {
  const isFirst = previous === undefined && after === undefined;
  return {
    first: isFirst ? undefined : address(path, filter),
    previous: previous === undefined ? undefined : address(path, { ...filter, before: write(previous) }),
    next: next === undefined ? undefined : address(path, { ...filter, after: write(next) }),
  };
}
