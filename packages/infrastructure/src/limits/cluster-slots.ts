import slotOf from 'cluster-key-slot';

/** A range of slots as CLUSTER SLOTS returns it: the first slot, the last slot, the primary, the replicas. */
export type SlotRange = readonly [first: number, last: number, ...nodes: unknown[]];

const SLOTS = 16_384;

/**
 * One key for each primary, each beginning with `start`.
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
