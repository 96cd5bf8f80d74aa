import { setTimeout as delay } from 'node:timers/promises';

/** Within a test's own 30 s, so that it is this that says what was missing. */
const TIMEOUT = 20_000;

/**
 * Waits for what a real process does by itself.
 *
 * @param what what is waited for, in words; the condition's own text unless given.
 * @throws Error that says what hasn't come about in time.
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
