import {
  checkAll,
  INT64_MAX,
  INT64_MIN,
  int64From,
  invalid,
  MAX_PAGE_SIZE,
  type Page,
  type PagePosition,
  type PageRequest,
} from '@adoption-store/domain';
import { createParamDecorator, type ExecutionContext, NotFoundException } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { fields, Form, wholeNumber } from './forms.js';
import type { Paging, Tab } from './views.js';

type Check<Value> = (text: string, name: string) => Value;
type Checks = Readonly<Record<string, Check<bigint | string>>>;
type Checked<Each extends Checks> = { readonly [Name in keyof Each]?: ReturnType<Each[Name]> | undefined };
type Parameters = Readonly<Record<string, bigint | string | undefined>>;

/** The page that a list shows if its filter cannot be read. */
export const EMPTY_PAGE = { items: [], next: undefined, previous: undefined } as const;

export class List<Each extends Checks> {
  readonly filter: Form;
  /** Undefined if a parameter is wrong. Such a page lists nothing, so that a misspelt filter never lists everything. */
  readonly wanted: Checked<Each> | undefined;

  /**
   * @param checks of the filter's parameters. An empty parameter isn't checked.
   * @param labels of those that have a field.
   */
  constructor(
    private readonly path: string,
    private readonly query: unknown,
    checks: Each,
    labels: Readonly<Record<string, string>> = {},
  ) {
    const parameters = Object.keys(checks).map((name): [string, string] => [name, labels[name] ?? '']);
    this.filter = new Form(Object.fromEntries(parameters), 'filter-', query);
    const toCheck = Object.entries(checks).map(([name, check]) => [name, () => this.checked(name, check)]);
    try {
      this.wanted = checkAll(Object.fromEntries(toCheck)) as Checked<Each>;
    } catch (error) {
      this.filter.refused(error);
    }
  }

  /** The value of a parameter of the filter. Undefined if it is empty. */
  private checked(name: string, check: Check<bigint | string>): bigint | string | undefined {
    if (isRepeated(this.query, name)) throw invalid(name, 'must be given once');
    const text = (this.filter.values[name] ?? '').trim();
    return text === '' ? undefined : check(text, name);
  }

  /** The first page, if the address has no position or one that can't be read. */
  position<Position>(read: (text: string) => Position | undefined): PagePosition<Position> {
    const { after, before } = fields(this.query, 'after', 'before');
    return after === '' ? { before: read(before) } : { after: read(after) };
  }

  paging<Position>(
    { items, previous, next }: Page<unknown, Position>,
    write: (position: Position) => string = String,
  ): Paging {
    const isFirst = previous === undefined && fields(this.query, 'after').after === '';
    const start = this.startOf(items.length, isFirst);
    const end = plus(start, items.length - 1);
    const total = next === undefined ? ` of ${end}` : '';
    return {
      first: isFirst ? undefined : this.address({}),
      previous:
        previous === undefined ? undefined : this.address({ before: write(previous), to: plus(start, -1)?.toString() }),
      next: next === undefined ? undefined : this.address({ after: write(next), from: plus(end, 1)?.toString() }),
      range: start === undefined ? undefined : `${start}–${end}${total}`,
    };
  }

  /** The position of the page's first item. The links carry it, because to count it would read the whole list. */
  private startOf(length: number, isFirst: boolean): number | undefined {
    if (length === 0) return undefined;
    if (isFirst) return 1;
    const { from, to } = fields(this.query, 'from', 'to');
    return position(from) ?? plus(position(to), 1 - length);
  }

  /**
   * A tab for each choice of a parameter. `first` is the choice of an address without it, `part` the id of the part of
   * the page that the choice changes. Default: all of it.
   */
  tabs(
    name: keyof Each & string,
    choices: readonly (string | undefined)[],
    first?: string,
    part?: string,
  ): readonly Tab[] {
    const fragment = part === undefined ? '' : `#${part}`;
    return choices.map((each) => ({
      name: each ?? 'all',
      address: this.address({ [name]: each }) + fragment,
      isCurrent: this.wanted !== undefined && (this.wanted[name] ?? first) === each,
    }));
  }

  private address(parameters: Parameters): string {
    return address(this.path, { ...(this.wanted as Parameters | undefined), ...parameters });
  }
}

function isRepeated(query: unknown, name: string): boolean {
  const sent = new Map<string, unknown>(Object.entries(typeof query === 'object' && query !== null ? query : {}));
  return Array.isArray(sent.get(name));
}

function position(text: string): number | undefined {
  return wholeNumber(text, 1, 999_999_999);
}

function plus(value: number | undefined, more: number): number | undefined {
  return value === undefined ? undefined : value + more;
}

const LONGEST_SEARCH = 100;

/** A check of a list's filter. @throws InvalidInput */
export function searchText(text: string, name: string): string {
  if (text.length > LONGEST_SEARCH || text.includes('\0'))
    throw invalid(name, `must be at most ${LONGEST_SEARCH} characters`);
  return text;
}

/** How many of the newest items a search reads that no index serves, and how many it shows. */
const MOST_SEARCHED = 1_000;
const MOST_SHOWN = 100;

/**
 * The matching ones among the newest items.
 *
 * @param read returns a page of them.
 * @param matching returns the matching ones of a page.
 */
export async function searchNewest<Item, Position>(
  read: (part: PageRequest<Position>) => Promise<Page<Item, Position>>,
  matching: (items: readonly Item[]) => Promise<readonly Item[]>,
): Promise<Page<Item, Position>> {
  const found: Item[] = [];
  let after: Position | undefined;
  for (let searched = 0; searched < MOST_SEARCHED && found.length < MOST_SHOWN; searched += MAX_PAGE_SIZE) {
    const { items, next } = await read({ after, limit: MAX_PAGE_SIZE });
    found.push(...(await matching(items)));
    if (next === undefined) break;
    after = next;
  }
  return { items: found.slice(0, MOST_SHOWN), next: undefined, previous: undefined };
}

const INTEGER = /^\s*([+-]?)(\d+)\s*$/;

/** Whether a person has typed a whole number, of any size. */
export function isInteger(text: string): boolean {
  return INTEGER.test(text);
}

/** A check of a list's filter, and of a form's field. Tells the bounds only of what is beyond them. @throws InvalidInput */
export function int64(text: string, name: string): bigint {
  const [, sign, typed] = INTEGER.exec(text) ?? [];
  if (typed === undefined) throw invalid(name, 'must be a whole number');
  const digits = typed.replace(/^0+(?=\d)/, '');
  const value = int64From(sign === '-' && digits !== '0' ? `-${digits}` : digits);
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

/** A check of a list's filter, and of a form's field. @throws InvalidInput */
export function oneOf<Choice extends string>(choices: readonly Choice[]): Check<Choice> {
  return (text, name) => {
    const found = choices.find((choice) => choice === text);
    if (found === undefined) throw invalid(name, `must be one of ${choices.join(', ')}`);
    return found;
  };
}

/** The position of the page that ends with this id, in a list that is ascending by id. */
export function positionOf(id: bigint): PagePosition<bigint> {
  return id === INT64_MAX ? { after: id - 1n } : { before: id + 1n };
}

/** An address with its parameters. Those that are empty or undefined are left out. */
export function address(path: string, parameters: Parameters): string {
  const given = Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}
