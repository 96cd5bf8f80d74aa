import { type Instant, instant } from '@adoption-store/domain';
import { type EntitySchema, type EntitySchemaColumnOptions, Raw, type ValueTransformer } from 'typeorm';

export function int64Of(stored: string): bigint {
  // Most values fit into a number, and converting through a number takes a third of the time.
  return stored.length < 16 ? BigInt(Number(stored)) : BigInt(stored);
}

/** Converts PostgreSQL's bigint, which pg returns as a string, to a branded bigint. */
export const int64Column: ValueTransformer = {
  from: (stored: string | null) => (stored === null ? undefined : int64Of(stored)),
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

/** The options of every column. That of an optional field reads NULL as undefined, which is published as nothing. */
export type ColumnsOf<Entity> = {
  readonly [Field in keyof Entity]-?: undefined extends Entity[Field]
    ? EntitySchemaColumnOptions & { readonly nullable: true; readonly transformer: ValueTransformer }
    : EntitySchemaColumnOptions;
};

/** SQL for a time in Unix milliseconds. pg would parse a date, which takes longer. */
export function milliseconds(column: string): string {
  // Rounded down, as Node reads the same time.
  return `floor(extract(epoch FROM ${column}) * 1000)::bigint`;
}

/** SQL for Unix milliseconds as a time. pg would write a `Date`, which takes longer. */
export function timeOf(unixMilliseconds: string): string {
  return `to_timestamp(${unixMilliseconds} / 1000.0)`;
}

/** SQL for a parameter or column in milliseconds as an interval. */
export function interval(value: string): string {
  return `${value}::double precision * interval '1 millisecond'`;
}

/** The values of these fields, as one array for each field, for `unnest`. */
export function arraysOf<Row>(rows: readonly Row[], ...fields: readonly (keyof Row)[]): unknown[][] {
  return fields.map((field) => rows.map((row) => row[field]));
}

/** The columns of an entity's schema, for hand-written SQL. */
export class Columns<Entity extends object> {
  readonly count: number;
  private readonly selected;
  private readonly inserted;

  constructor({ options }: EntitySchema<Entity>) {
    const columns = Object.entries(options.columns) as [keyof Entity, EntitySchemaColumnOptions][];
    const all = columns.map(([property, { name, type, generated, select, nullable, transformer }]) => ({
      property,
      name: name ?? String(property),
      type: String(type),
      isGenerated: generated !== undefined,
      isSelected: select !== false,
      isNullable: nullable === true,
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

  /** The columns of these properties, each under its name: `category_id AS "categoryId"`. */
  listNamed(properties: Readonly<Record<string, keyof Entity>>): string {
    return Object.entries(properties)
      .map(([name, property]) => `${this.selected.find((each) => each.property === property)?.name} AS "${name}"`)
      .join(', ');
  }

  /** SQL for a row's JSON. What is NULL is left out, and there are no spaces, as `jsonText` writes it. */
  jsonOf(row: string): string {
    const json = `row_to_json(${row})`;
    return this.selected.some(({ isNullable }) => isNullable) ? `json_strip_nulls(${json})` : json;
  }

  /** The columns to insert: `name, status`. */
  listInserted(): string {
    return this.inserted.map(({ name }) => name).join(', ');
  }

  /** The parameters of one row to insert, from that number on: `$1, $2`. */
  listParameters(first = 1): string {
    return this.inserted.map((_, index) => `$${first + index}`).join(', ');
  }

  /** The parameters of several rows to insert, an array for each column, for `unnest`: `$1::text[], $2::bigint[]`. */
  listArrays(): string {
    return this.inserted.map(({ type }, index) => `$${1 + index}::${type}[]`).join(', ');
  }

  /** The values of one row to insert, in the order of `listParameters`. */
  rowValuesOf(entity: Partial<Entity>): unknown[] {
    const values: unknown[] = [];
    for (const { property, transformer } of this.inserted) {
      values.push(transformer ? transformer.to(entity[property]) : entity[property]);
    }
    return values;
  }

  /** The values to insert, as one array for each column. */
  valuesOf(entities: readonly Partial<Entity>[]): unknown[][] {
    const columns: unknown[][] = [];
    for (const { property, transformer } of this.inserted) {
      const values: unknown[] = [];
      for (const entity of entities) values.push(transformer ? transformer.to(entity[property]) : entity[property]);
      columns.push(values);
    }
    return columns;
  }

  /**
   * The entities in the rows of a prepared statement, which has each int64 as a bigint.
   *
   * @param offset where an entity's values begin in its row. They are in the order of `list`.
   */
  fromRows(rows: readonly (readonly unknown[])[], offset = 0): readonly Entity[] {
    const entities: Entity[] = [];
    for (const row of rows) {
      const entity: Partial<Record<keyof Entity, unknown>> = {};
      let index = offset;
      for (const { property, transformer } of this.selected) {
        const value = row[index] ?? undefined;
        entity[property] =
          value === undefined || transformer === undefined || transformer === int64Column
            ? value
            : (transformer.from(value) as unknown);
        index += 1;
      }
      entities.push(entity as Entity);
    }
    return entities;
  }

  /** @param row with the columns' names as keys, as TypeORM's `query` returns it. */
  fromRow(row: Readonly<Record<string, unknown>>): Entity {
    const values = this.selected.map(({ property, name, transformer }) => [
      property,
      transformer === undefined ? row[name] : (transformer.from(row[name]) as unknown),
    ]);
    return Object.fromEntries(values) as Entity;
  }
}

/**
 * SQL for the end of a condition: `IN ('queued')`. The statuses are literals, because a generic plan doesn't know the
 * value of a parameter, and so wouldn't use an index that contains only rows of these statuses.
 */
export function isOneOf(...statuses: readonly string[]): string {
  return `IN (${statuses.map((each) => `'${each}'`).join(', ')})`;
}

export function hasStatus(...statuses: readonly string[]) {
  return Raw((status) => `${status} ${isOneOf(...statuses)}`);
}
