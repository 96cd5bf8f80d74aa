import { type EventCursor, type EventPosition, type FeedEpoch, FIRST_EPOCH, int64From } from '@adoption-store/domain';

const CURSOR = /^(\d+)(?:\.(\d+))?$/;

/** The text in a cursor. One of the first epoch is its position alone, as before there were epochs. */
export function eventCursorText({ epoch, position }: EventCursor): string {
  return epoch === FIRST_EPOCH ? String(position) : `${position}.${epoch}`;
}

/** The place in a cursor of `eventCursorText`. Undefined if it is none. */
export function readEventCursor(text: string): EventCursor | undefined {
  const [, place, ofEpoch] = CURSOR.exec(text) ?? [];
  const position = int64From(place) as EventPosition | undefined;
  const epoch = ofEpoch === undefined ? FIRST_EPOCH : (int64From(ofEpoch) as FeedEpoch | undefined);
  return position === undefined || epoch === undefined ? undefined : { epoch, position };
}
