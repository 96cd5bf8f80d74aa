import type { Instant } from '../kernel/clock.js';

/** What a published object may have. What is absent is left out: nobody reads null. */
export type JsonFields = Readonly<Record<string, string | bigint | undefined>>;

/** Writes an object in the order of its fields. Not JSON.stringify alone, because it refuses bigints. */
export function jsonText(fields: JsonFields): string {
  const members: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    members.push(`"${name}":${typeof value === 'bigint' ? value : JSON.stringify(value)}`);
  }
  return `{${members.join(',')}}`;
}

/** For example `2026-11-21T12:00:00.000Z`. */
export function isoTime(instant: Instant): string {
  return new Date(instant).toISOString();
}
