import { type Instant, instant } from '@adoption-store/domain';
import { type EntitySchema, type EntitySchemaColumnOptions, Raw, type ValueTransformer } from 'typeorm';

/** Converts PostgreSQL's bigint, which pg returns as a string, to a branded bigint. */
export const int64Column: ValueTransformer = {
  from: (stored: string | null) => {
    if (stored === null) return undefined;
    // Most values fit into a number, and converting through a number takes a third of the time.
    return stored.length < 16 ? BigInt(Number(stored)) : BigInt(stored);
  },
  to: (value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
};

export const instantColumn: ValueTransformer = {
  from: (stored: Date | null) => (stored === null ? undefined : instant(stored.getTime())),
  to: (value: Instant | undefined) => (value === undefined ? null : new Date(value)),
};

export const optionalColumn: ValueTransformer = {
  from: (stored: unknown) => stored ?? undefined,
  to: (value: unknown) => value ?? null,
};

/** SQL for a time in Unix milliseconds. pg would parse a date, which takes longer. */
export function milliseconds(column: string): string {
  return `(extract(epoch FROM ${column}) * 1000)::bigint`;
}

/** The columns of an entity's schema, for hand-written SQL. */
export class Columns<Entity extends object> {
  readonly count: number;
  private readonly selected;
  private readonly inserted;

  constructor({ options }: EntitySchema<Entity>) {
    const columns = Object.entries(options.columns) as [keyof Entity, EntitySchemaColumnOptions][];
    const all = columns.map(([property, { name, type, generated, select, transformer }]) => ({
      property,
      name: name ?? String(property),
      type: String(type),
      isGenerated: generated !== undefined,
      isSelected: select !== false,
      transformer: transformer as ValueTransformer | undefined,
    }));
    this.selected = all.filter(({ isSelected }) => isSelected);
    this.inserted = all.filter(({ isGenerated }) => !isGenerated);
    this.count = this.selected.length;
  }

  /** The columns to read: `id, name`, or with a table's alias `alias.id, alias.name`. */
  list(alias?: string): string {
    return this.selected.map(({ name }) => (alias === undefined ? name : `${alias}.${name}`)).join(', ');
  }

  /** The columns to insert: `name, status`. `of` can replace each one; `place` counts from 1. */
  listInserted(of: (place: number, name: string, type: string) => string = (_place, name) => name): string {
    return this.inserted.map(({ name, type }, index) => of(index + 1, name, type)).join(', ');
  }

  /** The values to insert, as one array for each column. */
  valuesOf(entities: readonly Partial<Entity>[]): unknown[][] {
    return this.inserted.map(({ property, transformer }) =>
      entities.map((entity) => (transformer ? (transformer.to(entity[property]) as unknown) : entity[property])),
    );
  }

  /** @param values of a row, of which the entity's begin at `offset`, in the order of `list`. */
  fromValues(values: readonly unknown[], offset = 0): Entity {
    const entity: Partial<Record<keyof Entity, unknown>> = {};
    let index = offset;
    for (const { property, transformer } of this.selected) {
      const value = values[index];
      entity[property] = transformer ? (transformer.from(value) as unknown) : value;
      index += 1;
    }
    return entity as Entity;
  }

  /** @param row with the columns' names as keys. */
  fromRow(row: Readonly<Record<string, unknown>>): Entity {
    return this.fromValues(this.selected.map(({ name }) => row[name]));
  }
}

/**
 * The rest of a condition, for an index that contains only rows of these statuses. They are written into the SQL, because
 * a generic plan doesn't know a parameter's value.
 */
export function isOneOf(...statuses: readonly string[]): string {
  return `IN (${statuses.map((each) => `'${each}'`).join(', ')})`;
}

export function hasStatus(...statuses: readonly string[]) {
  return Raw((status) => `${status} ${isOneOf(...statuses)}`);
}
