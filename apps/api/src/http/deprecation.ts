import { type Clock, type Instant, instant } from '@adoption-store/domain';
import { headerLines } from './api-response.js';

/** That an operation is going away, and when. */
export interface Deprecation {
  readonly since: Instant;
  /** From this instant on the operation answers 410. */
  readonly sunset: Instant;
}

/** requirements.md §4.3. The one place for the date. */
export const getPetDeprecation: Deprecation = {
  since: instant(Date.UTC(2025, 11, 5)),
  sunset: instant(Date.UTC(2030, 11, 5)),
};

/** RFC 9745 §2.1 and RFC 8594 §3. */
export function deprecationHeaders({ since, sunset }: Deprecation): Record<'deprecation' | 'sunset', string> {
  return { deprecation: `@${since / 1_000}`, sunset: new Date(sunset).toUTCString() };
}

export function isGone({ sunset }: Deprecation, clock: Clock): boolean {
  return clock.now() >= sunset;
}

/** The lines as they were made last, around the id: most clients use one address. */
let last = { origin: '', start: '', end: '' };

/** What each answer of GET /v1/pets/{petId} tells, at the API's address `origin`: its end, and what to use instead. */
export function getPetDeprecationLines(origin: string, id: bigint | undefined): string {
  if (origin !== last.origin) {
    const start = headerLines({ ...deprecationHeaders(getPetDeprecation), link: `<${origin}/v1/pets` });
    const end = `>; rel="successor-version", <${origin}/docs>; rel="deprecation"; type="text/html"`;
    last = { origin, start, end };
  }
  return last.start + (id === undefined ? '' : `?id=${id}`) + last.end;
}
