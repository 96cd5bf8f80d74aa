import { type Instant, instant } from '@adoption-store/domain';
import type { InsertResult, ValueTransformer } from 'typeorm';

/** PostgreSQL's bigint, which the driver gives as a string, as a branded bigint. */
export const int64Column: ValueTransformer = {
  from: (stored: string | null) => (stored === null ? undefined : BigInt(stored)),
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

/** The id the database chose for the one row of an insert; TypeORM hands it back without its column's transformer. */
export function insertedId({ raw }: InsertResult): bigint {
  const [row] = raw as [{ id: string }];
  return BigInt(row.id);
}
