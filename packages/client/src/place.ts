import { ApiError } from './api-error.js';

/** A place in a list: where a page begins, or in the feed of events behind one of them. The beginning has neither. */
export interface Position {
  /** The types of the events that are followed. Undefined: every type, or those of the list. */
  readonly types?: readonly string[] | undefined;
  /** The API's cursor of the page. Undefined: the first page. */
  readonly page?: string | undefined;
  /** The id of the last event that was handled, if it is within the page. */
  readonly event?: string | undefined;
}

/** Types, page and event. The API's cursors, which are pages alone, have no separator. */
const SAVED = /^([^~]*)~([^~]*)~([^~]*)$/;

/** The place as the text that `positionAt` reads. Undefined: the beginning. */
export function textOf({ types = [], page = '', event = '' }: Position): string | undefined {
  return page === '' && event === '' ? undefined : `${types.join()}~${page}~${event}`;
}

/**
 * The place at which a list begins.
 *
 * @param text a cursor of the API, or the address of a page, whatever the server was called then. Only its cursor is used.
 * @param path of the list, such as `/pets`.
 * @throws TypeError if it is neither.
 */
export function pageAt(text: string, path: string): Position {
  // Plain JavaScript may pass anything.
  if (typeof text === 'string' && /^[\w.=-]+$/.test(text)) return { page: text };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const page = url?.searchParams.get('cursor') ?? undefined;
  // Without a cursor it is the first page.
  if (url?.pathname.endsWith(`/v1${path}`) === true && page !== '') return { page };
  throw new TypeError(`no place of the list ${path}: it must be the next of a page, or a cursor`);
}

/**
 * The place in the events at which to begin.
 *
 * @param text what `textOf` made of a place, or what `pageAt` reads.
 * @param types of the events that are wanted. Undefined: those of the place.
 * @throws TypeError if the text is none. RangeError that names the option and its rule.
 */
export function positionAt(text: string | undefined, types: readonly string[] | undefined): Position {
  if (types?.length === 0) throw new RangeError('types must name at least one type');
  const wanted = types && [...new Set(types)].sort();
  if (text === undefined) return { types: wanted };
  const saved = URL.canParse(text) ? null : SAVED.exec(text);
  if (saved === null) return { types: wanted, page: pageAt(text, '/events').page };
  const [, names = '', page = '', event = ''] = saved;
  if (page === '' && event === '') throw new TypeError('cursor must be one of an earlier Following');
  // The saved event may not be among those of other types.
  if (wanted !== undefined && wanted.join() !== names)
    throw new RangeError(`types must be those that cursor was saved with: ${names === '' ? 'every type' : names}`);
  return { types: names === '' ? undefined : names.split(','), page: page || undefined, event: event || undefined };
}

/** The items of the place's page that come behind its event. @throws ApiError if that isn't among them. */
export function behind<Item>(items: readonly Item[], { event }: Position): readonly Item[] {
  if (event === undefined) return items;
  const index = items.findIndex((item) => (item as { readonly id?: unknown }).id === event);
  if (index !== -1) return items.slice(index + 1);
  // The API can't tell an event from its page.
  const message =
    'the event of cursor is no longer kept, so events after it may be lost; begin with events.now() and list again';
  throw new ApiError({ code: 'cursor_expired', message, status: 410 });
}
