import type { Instant } from '@adoption-store/domain';

/** For example `2026-11-21T12:00:00.000Z`. */
export function isoTime(instant: Instant): string {
  return new Date(instant).toISOString();
}
