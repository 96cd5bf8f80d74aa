import type { Instant } from '../kernel/clock.js';

/** What a published object may have. What is absent is left out: nobody reads null. */
export interface JsonFields {
  readonly [name: string]: JsonValue | undefined;
}

type JsonValue = string | bigint | number | boolean | readonly string[] | JsonFields;

/** Writes an object in the order of its fields. Not JSON.stringify alone, because it refuses bigints. */
export function jsonText(fields: JsonFields): string {
  let members = '';
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === undefined) continue;
    if (members !== '') members += ',';
    members += `"${name}":${valueText(value)}`;
  }
  return `{${members}}`;
}

function valueText(value: JsonValue): string {
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'object' && !isList(value) ? jsonText(value) : JSON.stringify(value);
}

function isList(value: object): value is readonly string[] {
  return Array.isArray(value);
}

/** For example `2026-11-21T12:00:00.000Z`. */
export function isoTime(instant: Instant): string {
  return new Date(instant).toISOString();
}
