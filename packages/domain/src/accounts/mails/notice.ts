import { DAY, HOUR, type Instant, later } from '../../kernel/clock.js';
import { escapeInvisible } from '../../kernel/text.js';
import type { Account } from '../account.js';
import type { AccountMailId, NewAccountMail } from './account-mail.js';

/** How long the worker tries to send a notice. */
export const NOTICE_TTL = 2 * DAY;

/** Counted notices that an address gets in an hour. A mail that tells the number of the others follows. */
const MOST_NOTICES = 5;

/** An account can be changed so often that its owner reads nothing any more. The other kinds are rare and always sent. */
export const COUNTED_NOTICES = ['password', 'recovered', 'key', 'rotated'] as const;

/** What the account's owner is told. */
export interface Told extends Pick<NewAccountMail, 'id' | 'about'> {
  readonly kind: (typeof COUNTED_NOTICES)[number] | 'changed' | 'closed';
}

/**
 * A mail to the account's present address, which a stranger can't change any more while it waits. Undefined if the
 * address isn't proven by mail: it may belong to somebody else.
 */
export function newNotice(account: Account, told: Told, now: Instant): NewAccountMail | undefined {
  if (account.provenAt === undefined) return undefined;
  const { id: accountId, email: address } = account;
  return { ...told, accountId, address, createdAt: now, expiresAt: later(now, NOTICE_TTL) };
}

/** What the notice's address has got. */
export interface NoticeState {
  /** Counted notices of the account to it within `NOTICE_HOUR` before this one. */
  readonly recent: number;
  /** The mail that will tell how many there were besides. Undefined if there is none that is new and hasn't expired. */
  readonly more: { readonly id: AccountMailId; readonly about: string } | undefined;
}

export const NOTICE_HOUR = HOUR;

/** A mail to add, or one that waits and is about more than before. */
export type NoticeDecision = { readonly added: NewAccountMail } | { readonly raised: NonNullable<NoticeState['more']> };

/**
 * Five counted notices in an hour are sent at once. Those after them are only counted, in one mail that waits for an
 * hour: so an address gets at most six in any hour, and the rows are as few.
 */
export function decideNotice({ recent, more }: NoticeState, notice: NewAccountMail): NoticeDecision {
  if (recent < MOST_NOTICES || !COUNTED_NOTICES.some((kind) => kind === notice.kind)) return { added: notice };
  if (more !== undefined) return { raised: { id: more.id, about: String(Number(more.about) + 1) } };
  const [createdAt, expiresAt] = [later(notice.createdAt, HOUR), later(notice.expiresAt, HOUR)];
  return { added: { ...notice, kind: 'more', about: '1', createdAt, expiresAt, wait: HOUR } };
}

const MOST_OF_NAME = 50;
/** Of these, mail programs make links and addresses; quotation marks would end the name. */
const ACTIVE = /[.:/@\u3002\uff0e\uff61](?=\S)|["“”]/gu;

/** How a notice names a key, whose name a stranger may have chosen. */
export function nameOfKey({ name, ending }: { readonly name: string | undefined; readonly ending: string }): string {
  if (name === undefined) return `the key that ends in ${ending}`;
  const points = [...name];
  const cut = points.length > MOST_OF_NAME ? `${points.slice(0, MOST_OF_NAME).join('')}…` : name;
  const plain = escapeInvisible(cut).replace(
    ACTIVE,
    (point) => `\\u{${point.charCodeAt(0).toString(16).toUpperCase()}}`,
  );
  return `“${plain}”, which ends in ${ending}`;
}
