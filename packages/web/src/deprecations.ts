import { DAY, type Instant, instant, type OperationUse } from '@adoption-store/domain';

/** The deprecation of an operation, and its end. */
export interface Deprecation {
  /** Its name, as in `OperationUse`. */
  readonly operation: string;
  readonly since: Instant;
  /** From this instant on the operation answers 410. */
  readonly sunset: Instant;
  readonly replacement: string;
}

/** The only place for the dates of GET /v1/pets/{petId}. */
export const getPetDeprecation: Deprecation = {
  operation: 'GET /v1/pets/{petId}',
  since: instant(Date.UTC(2025, 11, 5)),
  sunset: instant(Date.UTC(2030, 11, 5)),
  replacement: 'GET /v1/pets?id={petId}',
};

export const DEPRECATIONS: readonly Deprecation[] = [getPetDeprecation];

/** Uses within this time are warned of. Five weeks, so that a monthly job is still noticed. */
export const RECENT_USE = 35 * DAY;

export interface DeprecatedUse {
  readonly deprecation: Deprecation;
  readonly lastUsedAt: Instant;
}

/** The recent uses of deprecated operations, without those before the deprecation. */
export function deprecatedUses(uses: readonly OperationUse[], now: Instant): readonly DeprecatedUse[] {
  return uses.flatMap(({ operation, lastUsedAt }) => {
    const deprecation = DEPRECATIONS.find((each) => each.operation === operation);
    const isRecent = deprecation !== undefined && lastUsedAt >= Math.max(deprecation.since, now - RECENT_USE);
    return isRecent ? [{ deprecation, lastUsedAt }] : [];
  });
}
