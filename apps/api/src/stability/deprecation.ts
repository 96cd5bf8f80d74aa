import { type Clock, type Instant, instant } from '@adoption-store/domain';

/** The deprecation of an operation, and its end. */
export interface Deprecation {
  readonly since: Instant;
  /** From this instant on the operation answers 410. */
  readonly sunset: Instant;
}

/** The only place for the dates of GET /v1/pets/{petId}. */
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

const headers = deprecationHeaders(getPetDeprecation);

/** The headers of each response of GET /v1/pets/{petId}: its end and its replacement. `origin` is the API's address. */
export function getPetDeprecationHeaders(origin: string, id: bigint | undefined): Record<string, string> {
  const successor = `<${origin}/v1/pets${id === undefined ? '' : `?id=${id}`}>; rel="successor-version"`;
  return { ...headers, link: `${successor}, <${origin}/docs>; rel="deprecation"; type="text/html"` };
}
