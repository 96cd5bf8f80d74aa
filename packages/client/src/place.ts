/** A place in the feed: where a page begins, or behind one of its events. The beginning has neither. */
export interface Place {
  /** The types of the events that are followed. Undefined: every type. */
  readonly types: readonly string[] | undefined;
  /** The API's cursor of the page. Undefined: the first page. */
  readonly page?: string | undefined;
  /** The id of the last event that was handled, if it is within the page. */
  readonly event?: string | undefined;
}

/** Types, page and event. The API's cursors, which are pages alone, have no separator. */
const SAVED = /^([^~]*)~([^~]*)~([^~]*)$/;

/** The place as the text that `placeAt` reads. Undefined: the beginning. */
export function textOf({ types = [], page = '', event = '' }: Place): string | undefined {
  return page === '' && event === '' ? undefined : `${types.join()}~${page}~${event}`;
}

/**
 * The place to begin at.
 *
 * @param cursor what `textOf` made of a place, or a cursor of the API. Undefined: the beginning.
 * @param types of the events that are wanted. Undefined: those of the place.
 * @throws RangeError that names the option and its rule.
 */
export function placeAt(cursor: string | undefined, types: readonly string[] | undefined): Place {
  if (types?.length === 0) throw new RangeError('types must name at least one type');
  const wanted = types && [...new Set(types)].sort();
  if (cursor === undefined) return { types: wanted };
  // An empty text in a file or a database is more often an accident than the wish to begin anew.
  if (cursor === '') throw new RangeError('cursor is empty: leave it out to begin with the oldest event');
  if (!cursor.includes('~')) return { types: wanted, page: cursor };
  const [, names = '', page = '', event = ''] = SAVED.exec(cursor) ?? [];
  if (page === '' && event === '') throw new RangeError('cursor must be one of an earlier Following');
  // The saved event may not be among those of other types.
  if (wanted !== undefined && wanted.join() !== names)
    throw new RangeError(`types must be those that cursor was saved with: ${names === '' ? 'every type' : names}`);
  return { types: names === '' ? undefined : names.split(','), page: page || undefined, event: event || undefined };
}
