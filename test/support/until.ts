import { setTimeout as delay } from 'node:timers/promises';

/** Waits for what a real process does by itself; the test's own time limit ends what never comes true. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await delay(10);
}
