/**
 * Waits while each turn of the event loop brings more callers to share work with. Callers whose earlier work was shared
 * come back together, over several turns, as their answers reach them.
 *
 * @param count the callers that have arrived.
 * @param most callers with which the work begins at once.
 * @param nextTurn resolves in the next turn of the event loop.
 */
export async function othersToArrive(
  count: () => number,
  most: number,
  nextTurn: () => Promise<unknown>,
): Promise<void> {
  let before: number;
  do {
    before = count();
    await nextTurn();
  } while (count() > before && count() < most);
}
