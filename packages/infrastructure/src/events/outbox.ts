import { publishedData, receiverOf, type StoreEvent } from '@adoption-store/domain';
import type { EntityManager } from 'typeorm';

/** The `account_id` of events that are for every account. No account has this id. */
export const EVERYBODY = 0n;

/** SQL that stores events, for a CTE. `first` is the number of the first of its three parameters: `eventValues`. */
export function storeEvents(first: number): string {
  return `
    INSERT INTO event_outbox (account_id, type, data)
    SELECT * FROM unnest($${first}::bigint[], $${first + 1}::text[], $${first + 2}::json[])`;
}

export function eventValues(events: readonly StoreEvent[]): unknown[] {
  return [
    events.map((event) => receiverOf(event) ?? EVERYBODY),
    events.map(({ type }) => type),
    events.map(publishedData),
  ];
}

/** Stores the events in the transaction of their change. */
export async function addEvents(manager: EntityManager, events: readonly StoreEvent[]): Promise<void> {
  if (events.length > 0) await manager.query(storeEvents(1), eventValues(events));
}
