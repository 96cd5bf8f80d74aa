import { type EventCursor, type EventHash, type EventPosition, int64From } from '@adoption-store/domain';

const CURSOR = /^(\d+)\.([0-9a-f]{16})$/;

export function eventCursorText({ position, hash }: EventCursor): string {
  return `${position}.${hash}`;
}

/** The position in a cursor of `eventCursorText`. Undefined if it is none. */
export function readEventCursor(text: string): EventCursor | undefined {
  const [, place, hash] = CURSOR.exec(text) ?? [];
  const position = int64From(place) as EventPosition | undefined;
  return position === undefined ? undefined : { position, hash: hash as EventHash };
}
