import { invalid } from './errors.js';

/** The most ids that a filter may have. */
export const MAX_IDS = 100;

/** @throws DomainError `invalid_parameter` if the filter has more than 100 ids. */
export function requireFewIds(field: string, ids: readonly bigint[] = []): void {
  if (ids.length > MAX_IDS) throw invalid(field, `must be given at most ${MAX_IDS} times`);
}
