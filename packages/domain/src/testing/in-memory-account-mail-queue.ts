import type { AccountId } from '../accounts/account.js';
import {
  type AccountMailId,
  isUsable,
  type LinkKind,
  type LinkMailState,
  type NewAccountMail,
  type NewLinkMail,
  type TokenState,
} from '../accounts/account-mail.js';
import type { AccountMailQueue, ClaimedAccountMail, ClaimedLinkMail } from '../accounts/account-mail-queue.js';
import type { MailedLink } from '../accounts/credentials.js';
import type { Claim } from '../deliveries/delivery-queue.js';
import { type Clock, type Instant, instant } from '../kernel/clock.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import { InMemoryDeliveryQueue, type Job } from './in-memory-delivery-queue.js';

type MailJob = NewAccountMail & Job<AccountMailId, 'dropped'>;
type Link = Pick<NewAccountMail, 'accountId' | 'kind' | 'expiresAt'> & {
  readonly mailId: AccountMailId;
  readonly tokenHash: string;
};

/** The mails, and the links of those that were sent. */
export class InMemoryAccountMailQueue
  extends InMemoryDeliveryQueue<AccountMailId, MailJob, ClaimedAccountMail>
  implements AccountMailQueue
{
  private readonly links = new Map<string, Link>();

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    clock: Clock,
  ) {
    super(clock);
  }

  async add(mail: NewLinkMail, decide: (state: LinkMailState) => boolean): Promise<boolean> {
    const isTheirs = (each: Pick<NewAccountMail, 'accountId' | 'kind' | 'expiresAt'>) =>
      each.accountId === mail.accountId && each.kind === mail.kind && isUsable(each, mail.createdAt);
    const waiting = this.queued().filter(isTheirs);
    const linked = [...this.links.values()].filter(isTheirs);
    const usable = new Set([...waiting.map(({ id }) => id), ...linked.map(({ mailId }) => mailId)]);
    const isQueued = decide({ account: this.accounts.stored(mail.accountId)?.account, usable: usable.size });
    if (isQueued) this.queue(mail);
    return isQueued;
  }

  queue(mail: NewAccountMail): void {
    this.put({ ...mail, status: 'queued', number: 0, failures: 0, dueAt: this.clock.now() });
  }

  async addToken(
    claimed: ClaimedLinkMail,
    tokenHash: string,
    decide: (state: TokenState) => boolean,
  ): Promise<boolean> {
    const { id: mailId, accountId, kind, expiresAt } = claimed;
    const isAdded = decide({ account: this.accounts.stored(accountId)?.account, mail: this.claimed(claimed) });
    if (isAdded) this.links.set(tokenHash, { mailId, accountId, kind, expiresAt, tokenHash });
    return isAdded;
  }

  async markDropped(claim: Claim<AccountMailId>): Promise<void> {
    const job = this.claimed(claim);
    if (job !== undefined) this.jobs.set(job.id, { ...job, status: 'dropped' });
  }

  async purge(expiredUntil: Instant): Promise<number> {
    const over = [...this.jobs.values()].filter(
      ({ status, expiresAt }) => status !== 'queued' && expiresAt <= expiredUntil,
    );
    for (const { id } of over) this.jobs.delete(id);
    return over.length;
  }

  link(kind: LinkKind, tokenHash: string): MailedLink | undefined {
    const link = this.links.get(tokenHash);
    const stored = link?.kind === kind ? this.accounts.stored(link.accountId) : undefined;
    if (link === undefined || stored === undefined) return undefined;
    const credentials = { account: stored.account, passwordHash: stored.passwordHash };
    const address = this.jobs.get(link.mailId)?.address;
    const isAddressTaken = address !== undefined && this.accounts.storedAt(address) !== undefined;
    return { credentials, expiresAt: link.expiresAt, address, isAddressTaken };
  }

  revoke(kind: LinkKind, id: AccountId): void {
    for (const link of this.links.values()) {
      if (link.accountId === id && link.kind === kind) this.links.delete(link.tokenHash);
    }
    for (const job of this.queued()) {
      if (job.accountId === id && job.kind === kind) {
        this.jobs.set(job.id, { ...job, expiresAt: instant(0), dueAt: instant(0) });
      }
    }
  }

  /** Deletes the links that expired at or before that instant. Returns their number. */
  purgeLinks(until: Instant): number {
    const over = [...this.links.values()].filter(({ expiresAt }) => expiresAt <= until);
    for (const { tokenHash } of over) this.links.delete(tokenHash);
    return over.length;
  }

  protected itemOf(job: MailJob): ClaimedAccountMail {
    const { id, accountId, kind, page, about, createdAt, expiresAt, number, failures, address } = job;
    const email = address ?? this.accounts.accountOf(accountId)?.email ?? '';
    return { id, accountId, kind, page, about, createdAt, expiresAt, number, failures, email };
  }
}
