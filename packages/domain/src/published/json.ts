import type { Instant } from '../kernel/clock.js';

/** What a published object may have. What is absent is left out: nobody reads null. */
export type JsonFields = Readonly<Record<string, string | bigint | undefined>>;

/** Writes an object in the order of its fields. Not JSON.stringify alone, because it refuses bigints. */
export function jsonText(fields: JsonFields): string {
  let members = '';
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === undefined) continue;
    if (members !== '') members += ',';
    members += `"${name}":${typeof value === 'bigint' ? value : JSON.stringify(value)}`;
  }
  return `{${members}}`;
}

/** For example `2026-11-21T12:00:00.000Z`. */
export function isoTime(instant: Instant): string {
  return new Date(instant).toISOString();
}
