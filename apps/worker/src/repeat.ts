import { pause } from './pauses.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

export interface Repeated {
  /** Resolves to whether there may be more to do at once. */
  readonly work: () => Promise<boolean>;
  /** Waits until it is worth looking again. */
  readonly rest: (signal: AbortSignal) => Promise<void>;
  readonly onSuccess: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** Does the work again and again until the signal is aborted. After a failure it pauses, twice as long after each more. */
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
