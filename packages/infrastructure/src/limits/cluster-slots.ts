import slotOf from 'cluster-key-slot';

/** Consecutive slots, as CLUSTER SLOTS describes them: the first, the last, the primary and its replicas. */
export type SlotRange = readonly [first: number, last: number, ...nodes: unknown[]];

const SLOTS = 16_384;

/**
 * Keys that begin like this, one for each primary.
 *
 * @throws Error if a slot has no primary.
 */
export function keysInSlots(start: string, ranges: readonly SlotRange[]): readonly string[] {
  const served = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  if (served < SLOTS) throw new Error(`${SLOTS - served} of the cluster's slots have no primary`);
  const missing = new Set(ranges.map(nameOf));
  const keys: string[] = [];
  for (let number = 1; missing.size > 0; number++) {
    const key = `${start}:${number}`;
    const slot = slotOf(key);
    const range = ranges.find(([first, last]) => first <= slot && slot <= last);
    if (range !== undefined && missing.delete(nameOf(range))) keys.push(key);
  }
  return keys;
}

function nameOf([, , primary]: SlotRange): string {
  return String(primary);
}
