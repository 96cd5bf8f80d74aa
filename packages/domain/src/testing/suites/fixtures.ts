import type { Account, NewAccount } from '../../accounts/account.js';
import type { NewApiKey } from '../../accounts/api-key.js';
import type { AccountMailId, LinkKind, NewAccountMail } from '../../accounts/account-mail.js';
import type { CredentialRepository } from '../../accounts/credential-repository.js';
import type { Ports } from '../../application.js';
import { HOUR, instant, later } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';

export const NOON = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));

/** What a decision of a test refuses with. */
export const REFUSAL = new DomainError('order_final', 'refused by the test');

/** A link that was mailed, and the hash of its token. */
export type MailedLink = Pick<NewAccountMail, 'accountId' | 'createdAt' | 'expiresAt' | 'address'> & {
  readonly tokenHash: string;
};

/** Values of which no two are the same, in a store that began empty. */
export class Unique {
  private made = 0;

  name(): string {
    this.made += 1;
    return `name-${this.made}`;
  }

  email(): string {
    return `${this.name()}@example.com`;
  }

  /** Looks like a SHA-256. */
  hash(): string {
    this.made += 1;
    return this.made.toString(16).padStart(64, '0');
  }

  account(email = this.email()): NewAccount {
    return { email, plan: { name: 'free' }, scopes: undefined, createdAt: NOON };
  }

  key({ id }: Pick<Account, 'id'>, changes: Partial<NewApiKey> = {}): NewApiKey {
    return {
      accountId: id,
      hash: this.hash(),
      ending: 'wxyz',
      name: undefined,
      scopes: undefined,
      createdAt: NOON,
      expiresAt: undefined,
      ...changes,
    };
  }

  link({ id }: Pick<Account, 'id'>, changes: Partial<MailedLink> = {}): MailedLink {
    return { accountId: id, tokenHash: this.hash(), createdAt: NOON, expiresAt: later(NOON, HOUR), ...changes };
  }
}

export async function openWithPassword(
  credentials: CredentialRepository,
  unique: Unique,
  hash = 'hash',
): Promise<Account> {
  const account = await credentials.open(unique.account(), hash);
  if (account === undefined) throw new Error('the account was not opened');
  return account;
}

/** Mails the link, as far as the queue can tell. False if the account has `most` usable links. */
export async function mailLink(
  { accountMails }: Pick<Ports, 'accountMails'>,
  kind: LinkKind,
  { tokenHash, ...link }: MailedLink,
  most = 3,
): Promise<boolean> {
  const id = `mail ${tokenHash}` as AccountMailId;
  if (!(await accountMails.add({ id, kind, page: 'https://portal.example.com', ...link }, most))) return false;
  // One of several concurrent callers may claim the others' mails, too.
  for (const claimed of await accountMails.claim({ limit: 100, lease: HOUR })) {
    await accountMails.addToken(claimed, claimed.id.slice('mail '.length), instant(0));
    await accountMails.markSent(claimed.id);
  }
  return true;
}

/** Begins the work so many times before it waits for any. */
export function atOnce<Result>(times: number, work: (index: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => work(index)));
}

/** Values of the promises that were kept, and reasons of those that weren't. */
export function outcomes<Value>(settled: readonly PromiseSettledResult<Value>[]) {
  return {
    values: settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
    reasons: settled.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : [])),
  };
}
