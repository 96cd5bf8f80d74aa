import { SECOND } from '@adoption-store/domain';
import type { Loops } from './loops.js';
import { Bell } from './pauses.js';

interface Queue {
  /** The name of the loops in log and metrics. */
  readonly name: string;
  /** Number of batches that are delivered at the same time. */
  readonly lanes: number;
  /** Delivers a batch, and first calls `onMore` if there may be more. */
  readonly work: (onMore: () => void) => Promise<{ readonly mayHaveMore: boolean }>;
  /** Calls back when an item was queued. Returns a function that stops watching. */
  readonly watch: (onQueued: () => void) => () => Promise<void>;
}

/** Delivers queued items until the loops stop. The returned function stops watching the queue. */
export function deliver(loops: Loops, { name, lanes, work, watch }: Queue): () => Promise<void> {
  const mayBeDue = new Bell();
  const ring = () => {
    mayBeDue.ring();
  };
  for (let lane = 0; lane < lanes; lane += 1)
    loops.start(name, {
      // More wakes another lane, so that as many lanes work as there is work for.
      work: async () => (await work(ring)).mayHaveMore,
      rest: (signal) => mayBeDue.heard(signal),
    });
  const unwatch = watch(ring);
  // No notification arrives when a postponed item is due again, or when a killed worker's claim expires.
  const timer = setInterval(ring, SECOND);
  return async () => {
    clearInterval(timer);
    await unwatch();
  };
}
