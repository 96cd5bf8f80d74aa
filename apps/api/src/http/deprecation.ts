import type { Clock } from '@adoption-store/domain';
import { type Deprecation, getPetDeprecation } from '@adoption-store/web';

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
