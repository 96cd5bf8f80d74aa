import {
  type NewAnimal,
  PET_TEXT_BEFORE_ID,
  petTextBehindId,
  publishedData,
  receiverOf,
  type StoreEvent,
} from '@adoption-store/domain';
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

/** The texts behind the ids of new animals in their events, a line for each: JSON has no line break within. */
export function additionLines(animals: readonly NewAnimal[]): string {
  return animals.map(petTextBehindId).join('\n');
}

/** SQL for the array of the lines in that parameter. */
export function linesIn(parameter: number): string {
  return `string_to_array($${parameter}, E'\\n')`;
}

/**
 * SQL that stores the event of each added animal, in the order of the rows.
 *
 * @param rows a table or CTE with the id of each animal.
 * @param behindId SQL for the text behind the id. Default: a column of `rows`.
 */
export function storeAdditions(rows: string, behindId = 'behind_id'): string {
  return `
    INSERT INTO event_outbox (type, data)
    SELECT 'pet.added', ('${PET_TEXT_BEFORE_ID}' || id || ${behindId})::json FROM ${rows}`;
}
