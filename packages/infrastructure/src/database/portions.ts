import { DomainError } from '@adoption-store/domain';

/** Rows per statement, because a statement has a time limit. */
const MOST = 1_000;

/**
 * Repeats `work`, which deletes at most `most` rows and returns their number, until it finds no more. If a portion
 * exceeds the time limit, the next ones are half as large: how long a row takes isn't known in advance.
 *
 * @returns the number of rows.
 */
export async function inPortions(work: (most: number) => Promise<number>): Promise<number> {
  let deleted = 0;
  let most = MOST;
  for (;;) {
    try {
      const portion = await work(most);
      if (portion === 0) return deleted;
      deleted += portion;
    } catch (error) {
      if (most === 1 || !(error instanceof DomainError && error.kind === 'unavailable')) throw error;
      most = Math.ceil(most / 2);
    }
  }
}
