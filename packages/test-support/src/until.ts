import { setTimeout as delay } from 'node:timers/promises';

/**
 * Milliseconds. Long, for a busy machine, but shorter than a test's own limit, so that this error is reported first.
 */
const TIMEOUT = 150_000;

/**
 * Waits until a condition is true that another process brings about.
 *
 * @param what a description of the condition. Default: the condition's source.
 * @throws Error that names the condition, if it isn't true in time.
 */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  { what = isTrue.toString(), within = TIMEOUT }: { readonly what?: string; readonly within?: number } = {},
): Promise<void> {
  const deadline = performance.now() + within;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`waited ${within} ms in vain for: ${what}`);
    await delay(10);
  }
}
