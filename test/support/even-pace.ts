import { until } from '@adoption-store/test-support';

/**
 * Begins `act` so many times a second, whatever becomes of it, until it is over.
 *
 * @param isOver is given how often it has begun.
 * @returns all results.
 */
export async function atEvenPace<Result>(
  perSecond: number,
  isOver: (begun: number) => boolean,
  act: () => Promise<Result>,
): Promise<readonly Result[]> {
  const start = performance.now();
  const acts: Promise<Result>[] = [];
  while (!isOver(acts.length)) {
    const due = start + (acts.length * 1_000) / perSecond;
    await until(() => performance.now() >= due);
    const begun = act();
    // Its failure is told at the end.
    begun.catch(() => undefined);
    acts.push(begun);
  }
  return Promise.all(acts);
}
