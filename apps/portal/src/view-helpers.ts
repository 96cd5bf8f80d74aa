import {
  DAY,
  endOf,
  EVENT_TYPES,
  HOUR,
  type Instant,
  isProven,
  keyState,
  LONGEST_SESSION,
  MAX_DESCRIPTION_LENGTH,
  MAX_PASSWORD_LENGTH,
  MAX_URL_LENGTH,
  MIN_PASSWORD_LENGTH,
  MINUTE,
  MOST_ACTIVE_KEYS,
  MOST_FAILING,
  MOST_WEBHOOKS,
  type Outcomes,
  PET_STATUSES,
  type Plan,
  PLAN_NAMES,
  PLANS,
  type QuotaWindow,
  remainingIn,
  SCOPE_MEANINGS,
  SECOND,
  SECRET_OVERLAP,
  sharedScopes,
  sumOf,
  webhookHealth,
} from '@adoption-store/domain';
import { DEPRECATIONS, readQuickStarts, RECENT_USE, REFUSAL_MEANINGS, SIGN } from '@adoption-store/web';
import { COLOURS, MESSAGE_MEANINGS, EVENT_MEANINGS } from './http/words.js';
import { groupsOf } from './http/page-groups.js';
import { REFUSAL_SECTIONS, UNKNOWN_REFUSAL } from './limits/refusal-meanings.js';
import { chartOf } from './limits/usage-chart.js';

/** A time further away than this is shown as its day. */
const MOST_RELATIVE = 30 * DAY;

const utc = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
const DATE = utc({ dateStyle: 'medium' });
const DATE_TIME = utc({ dateStyle: 'medium', timeStyle: 'short' });
const MOMENT = utc({ dateStyle: 'medium', timeStyle: 'medium' });
const HOUR_OF_DAY = utc({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const SECOND_OF_DAY = utc({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY_OF_MONTH = utc({ day: 'numeric', month: 'short' });
/** What opens or closes an isolate, or begins a paragraph, which closes all of them (UAX #9). */
const ENDS_ISOLATION = /[\u2066-\u2069\u2029\p{Cc}]/gu;
const SHARE = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 });
const NUMBER = new Intl.NumberFormat('en-GB');

/** The `it.helpers` of every template. `<%~ %>` does not escape, so helpers that return HTML must escape their values. */
export const viewHelpers = {
  isProven,
  keyState,
  remainingIn,
  webhookHealth,
  chartOf,
  groupsOf,
  statuses: PET_STATUSES,
  colours: COLOURS,
  messageMeanings: MESSAGE_MEANINGS,
  longestSession: LONGEST_SESSION / HOUR,
  sharedScopes,
  meanings: SCOPE_MEANINGS,

  /** What a key may do, in a word or two. Its own page lists the scopes. */
  scopesInWords(who: Parameters<typeof sharedScopes>[0]): string {
    const scopes = sharedScopes(who);
    if (scopes === undefined) return 'Full access';
    if (scopes.length === 0) return 'None';
    if (scopes.every((scope) => scope.endsWith(':read'))) return 'Read only';
    return viewHelpers.count(scopes.length, 'scope');
  },

  password: { least: MIN_PASSWORD_LENGTH, most: MAX_PASSWORD_LENGTH },
  mostActiveKeys: MOST_ACTIVE_KEYS,
  webhooks: {
    most: MOST_WEBHOOKS,
    longestUrl: MAX_URL_LENGTH,
    longestDescription: MAX_DESCRIPTION_LENGTH,
    mostFailingDays: MOST_FAILING / DAY,
    overlapHours: SECRET_OVERLAP / HOUR,
    types: EVENT_TYPES,
    meanings: EVENT_MEANINGS,
  },
  quickStarts: readQuickStarts(),
  deprecations: DEPRECATIONS,
  sign: SIGN,
  recentDays: RECENT_USE / DAY,

  /** The text in its own direction, as by `<bdi>`, which an `<option>` can't contain. */
  isolated: (text: string): string => `\u2068${text.replaceAll(ENDS_ISOLATION, '')}\u2069`,

  number: (value: number): string => NUMBER.format(value),

  /** For example `3 requests`. */
  count: (value: number, one: string, many = `${one}s`): string =>
    `${NUMBER.format(value)} ${value === 1 ? one : many}`,

  capitalised: (text: string): string => text.charAt(0).toUpperCase() + text.slice(1),

  // Times are HTML, in UTC. The script shows those of a `Shape` in the reader's own zone.

  dateTime: (at: Instant): string => time(at, `${DATE_TIME.format(at)} UTC`, 'minute'),

  date: (at: Instant): string => time(at, DATE.format(at), 'date'),

  /** A day that is one of UTC for every reader. */
  utcDate: (at: Instant): string => time(at, DATE.format(at)),

  moment: (at: Instant): string => time(at, `${MOMENT.format(at)} UTC`, 'moment'),

  /** For a column whose head has `data-zone`. */
  second: (at: Instant): string => time(at, SECOND_OF_DAY.format(at), 'second'),

  /** For a column whose head has `data-zone`. */
  hour: (at: Instant): string => time(at, HOUR_OF_DAY.format(at), 'hour'),

  dayOfMonth: (at: Instant): string => DAY_OF_MONTH.format(at),

  /** For example `in 4 min`. Rounded up, so that nobody comes back too early. */
  until: (at: Instant, now: Instant): string => `in ${span(Math.max(0, at - now), Math.ceil)}`,

  /** HTML: how long ago it was, or the wait until then. Its title is the minute in UTC. */
  relative(at: Instant, now: Instant): string {
    const past = now - at;
    const title = `${DATE_TIME.format(at)} UTC`;
    if (Math.abs(past) >= MOST_RELATIVE) return time(at, DATE.format(at), 'date', title);
    if (past < 0) return time(at, viewHelpers.until(at, now), 'relative', title);
    return time(at, past < MINUTE ? 'just now' : `${span(past, Math.floor)} ago`, 'relative', title);
  },

  endOf,

  /** In per cent, at most 100: a plan change can put the limit below the used count. */
  shareUsed: ({ used, limit }: QuotaWindow): number => Math.min(100, (100 * used) / limit),

  sumOf,

  /** For example `12.5 %`, of the admitted requests. */
  shareOf: (part: Outcomes, all: Outcomes): string =>
    all.admitted === 0 ? '–' : `${SHARE.format((100 * part.admitted) / all.admitted)}\u00a0%`,

  meaningOf: (code: string): string =>
    (Object.hasOwn(REFUSAL_MEANINGS, code) ? REFUSAL_MEANINGS[code] : undefined) ?? UNKNOWN_REFUSAL,

  sectionOf: (code: string) => (Object.hasOwn(REFUSAL_SECTIONS, code) ? REFUSAL_SECTIONS[code] : undefined),

  /** All plans in order. Enterprise limits are shown only to an account that has them. */
  plansBeside: (own: Plan) =>
    PLAN_NAMES.map((name) => ({
      name,
      isOwn: name === own.name,
      limits: name === own.name ? own : name === 'enterprise' ? undefined : PLANS[name],
    })),
};

/** The forms of times, as `portal.js` knows them. */
type Shape = 'minute' | 'date' | 'moment' | 'second' | 'hour' | 'relative';

function time(at: Instant, text: string, shape?: Shape, title?: string): string {
  const attributes = [shape && ` data-shape="${shape}"`, title && ` title="${title}"`].filter(Boolean).join('');
  return `<time datetime="${new Date(at).toISOString()}"${attributes}>${text}</time>`;
}

function span(milliseconds: number, round: (value: number) => number): string {
  if (milliseconds < MINUTE) return `${round(milliseconds / SECOND)} s`;
  if (milliseconds < 2 * HOUR) return `${round(milliseconds / MINUTE)} min`;
  if (milliseconds < 2 * DAY) return `${round(milliseconds / HOUR)} h`;
  return viewHelpers.count(round(milliseconds / DAY), 'day');
}
