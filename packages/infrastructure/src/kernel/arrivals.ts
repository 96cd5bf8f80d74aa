/**
 * Waits for callers that are about to arrive, so that they share work. Callers that shared work before often return at
 * about the same time, within several iterations of the event loop. Ends once an iteration brings nobody new.
 *
 * @param count returns how many callers have arrived.
 * @param most callers. If so many have arrived, it doesn't wait any longer.
 */
export async function othersToArrive(count: () => number, most: number): Promise<void> {
  let before: number;
  do {
    before = count();
    await new Promise(setImmediate);
  } while (count() > before && count() < most);
}
