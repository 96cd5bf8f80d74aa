/**
 * Waits for callers that are about to arrive, so that they share work. Callers that shared work before often return at
 * about the same time, within several iterations of the event loop. Ends once an iteration brings nobody new.
 *
 * @param count returns how many callers have arrived.
 * @param most callers. If so many have arrived, it doesn't wait any longer.
 * @param nextIteration resolves in the next iteration of the event loop.
 */
export async function othersToArrive(
  count: () => number,
  most: number,
  nextIteration: () => Promise<unknown>,
): Promise<void> {
  let before: number;
  do {
    before = count();
    await nextIteration();
  } while (count() > before && count() < most);
}
