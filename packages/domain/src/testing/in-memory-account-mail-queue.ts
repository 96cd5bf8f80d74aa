import type { AccountId } from '../accounts/account.js';
import {
  type AccountMailId,
  hasLink,
  type LinkKind,
  LINK_KINDS,
  type NewAccountMail,
  type NewLinkMail,
} from '../accounts/account-mail.js';
import type { AccountMailQueue, ClaimedAccountMail } from '../accounts/account-mail-queue.js';
import type { Claim } from '../deliveries/delivery-queue.js';
import { type Clock, type Instant, instant } from '../kernel/clock.js';
import type { InMemoryAccountRepository, StoredAccount } from './in-memory-account-repository.js';
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

  async add(mail: NewLinkMail, most: number): Promise<boolean> {
    if (this.accounts.stored(mail.accountId) === undefined) return false;
    const isUsable = (each: Pick<NewAccountMail, 'accountId' | 'kind' | 'expiresAt'>) =>
      each.accountId === mail.accountId && each.kind === mail.kind && each.expiresAt > mail.createdAt;
    const waiting = this.queued().filter(isUsable);
    const linked = [...this.links.values()].filter(isUsable);
    const usable = new Set([...waiting.map(({ id }) => id), ...linked.map(({ mailId }) => mailId)]);
    if (usable.size >= most) return false;
    this.queue(mail);
    return true;
  }

  queue(mail: NewAccountMail): void {
    this.put({ ...mail, status: 'queued', number: 0, failures: 0, dueAt: this.clock.now() });
  }

  async addToken(claim: ClaimedAccountMail, tokenHash: string, at: Instant): Promise<boolean> {
    const job = this.claimed(claim);
    if (job === undefined || job.expiresAt <= at || this.accounts.stored(job.accountId) === undefined) return false;
    const { id: mailId, accountId, kind, expiresAt } = job;
    if (!hasLink(kind)) return false;
    this.links.set(tokenHash, { mailId, accountId, kind, expiresAt, tokenHash });
    return true;
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

  /** The account that the token's link was mailed to. */
  linked(kind: LinkKind, tokenHash: string, at: Instant): StoredAccount | undefined {
    const link = this.links.get(tokenHash);
    return link?.kind === kind && link.expiresAt > at ? this.accounts.stored(link.accountId) : undefined;
  }

  /** The address to which the token was mailed, if it isn't the account's. */
  addressOf(tokenHash: string): string | undefined {
    const link = this.links.get(tokenHash);
    return link && this.jobs.get(link.mailId)?.address;
  }

  takeBackAll(id: AccountId): void {
    for (const kind of LINK_KINDS) this.takeBack(kind, id);
  }

  takeBack(kind: LinkKind, id: AccountId): void {
    for (const link of this.links.values()) {
      if (link.accountId === id && link.kind === kind) this.links.delete(link.tokenHash);
    }
    for (const job of this.queued()) {
      if (job.accountId === id && job.kind === kind) {
        this.jobs.set(job.id, { ...job, expiresAt: instant(0), dueAt: instant(0) });
      }
    }
  }

  /** Deletes the links that expired until that instant; how many. */
  purgeLinks(until: Instant): number {
    const over = [...this.links.values()].filter(({ expiresAt }) => expiresAt <= until);
    for (const { tokenHash } of over) this.links.delete(tokenHash);
    return over.length;
  }

  protected itemOf(job: MailJob): ClaimedAccountMail {
    const { id, accountId, kind, page, createdAt, expiresAt, number, failures, address } = job;
    const email = address ?? this.accounts.accountOf(accountId)?.email ?? '';
    return { id, accountId, kind, page, createdAt, expiresAt, number, failures, email };
  }
}
