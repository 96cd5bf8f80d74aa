import { pause } from './pauses.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

export interface Repeated {
  /** Returns whether there may be more work immediately. */
  readonly work: () => Promise<boolean>;
  /** Waits until the next round is due. */
  readonly rest: (signal: AbortSignal) => Promise<void>;
  readonly onSuccess: () => void;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Repeats the work until the signal is aborted. After a failure it pauses, for twice as long after each further one.
 */
export async function repeat({ work, rest, onSuccess, onFailure }: Repeated, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const mayHaveMore = await work();
      failures = 0;
      onSuccess();
      if (!mayHaveMore) await rest(signal);
    } catch (error) {
      onFailure(error);
      await pause(Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), signal);
      failures += 1;
    }
  }
}
