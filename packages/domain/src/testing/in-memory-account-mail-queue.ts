import type { AccountId } from '../accounts/account.js';
import {
  type AccountMailId,
  isUsable,
  type LinkKind,
  type LinkMailState,
  type NewAccountMail,
  type NewLinkMail,
  type NewSignUpMail,
  type SignUpMailState,
  type TokenState,
} from '../accounts/mails/account-mail.js';
import type {
  AccountMailQueue,
  ClaimedAccountMail,
  ClaimedLinkMail,
  SignUpMailDecision,
} from '../accounts/mails/account-mail-queue.js';
import { COUNTED_NOTICES, decideNotice, NOTICE_HOUR } from '../accounts/mails/notice.js';
import type { MailedLink, SignUpLink } from '../accounts/sign-in/credentials.js';
import type { Backlog, Claim, ClaimRequest } from '../deliveries/delivery-queue.js';
import { type Clock, type Instant, instant, later } from '../kernel/clock.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import { remember } from './in-memory-idempotency-records.js';
import { InMemoryJobs, type Job } from './in-memory-jobs.js';

type MailJob = NewAccountMail & Job<AccountMailId, 'dropped'>;
type Link = Pick<NewLinkMail, 'accountId' | 'kind' | 'expiresAt'> & {
  readonly mailId: AccountMailId;
  readonly tokenHash: string;
};

type StoredSignUp = Pick<SignUpLink, 'email' | 'expiresAt'>;

/** The mails, and the links in the mails that were sent. */
export class InMemoryAccountMailQueue implements AccountMailQueue {
  private readonly jobs: InMemoryJobs<AccountMailId, MailJob>;
  private readonly links = new Map<string, Link>();
  private readonly signUps = new Map<string, StoredSignUp>();

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly clock: Clock,
  ) {
    this.jobs = new InMemoryJobs(clock);
  }

  async add(mail: NewLinkMail, decide: (state: LinkMailState) => boolean): Promise<boolean> {
    const isTheirs = (each: Pick<NewAccountMail, 'accountId' | 'kind' | 'expiresAt'>) =>
      each.accountId === mail.accountId && each.kind === mail.kind && isUsable(each, mail.createdAt);
    const waiting = this.jobs.queued().filter(isTheirs);
    const linked = [...this.links.values()].filter(isTheirs);
    const usable = new Set([...waiting.map(({ id }) => id), ...linked.map(({ mailId }) => mailId)]);
    const isQueued = decide({ account: this.accounts.stored(mail.accountId)?.account, usable: usable.size });
    if (isQueued) this.queue(mail);
    return isQueued;
  }

  queue(mail: NewAccountMail): void {
    const dueAt = later(this.clock.now(), mail.wait ?? 0);
    this.jobs.put({ ...mail, status: 'queued', number: 0, failures: 0, dueAt });
  }

  /** Queues the notice as `decideNotice` decides. */
  tell(notice: NewAccountMail | undefined): void {
    if (notice === undefined) return;
    const { accountId, address, createdAt } = notice;
    const theirs = [...this.jobs.all.values()].filter((job) => job.accountId === accountId && job.address === address);
    const recent = theirs.filter(
      (job) => COUNTED_NOTICES.some((kind) => kind === job.kind) && job.createdAt > later(createdAt, -NOTICE_HOUR),
    ).length;
    const more = theirs.find((job) => job.kind === 'more' && job.number === 0 && isUsable(job, createdAt));
    const state = { recent, more: more && { id: more.id, about: more.about ?? '' } };
    const decision = decideNotice(state, notice);
    if ('added' in decision) this.queue(decision.added);
    else if (more !== undefined) this.jobs.put({ ...more, about: decision.raised.about });
  }

  async addToken(
    claimed: ClaimedLinkMail,
    tokenHash: string,
    decide: (state: TokenState) => boolean,
  ): Promise<boolean> {
    const { id: mailId, accountId, kind, expiresAt } = claimed;
    const isAdded = decide({ account: this.accounts.stored(accountId)?.account, mail: this.jobs.claimed(claimed) });
    if (isAdded) this.links.set(tokenHash, { mailId, accountId, kind, expiresAt, tokenHash });
    return isAdded;
  }

  async addSignUp(mail: NewSignUpMail): Promise<void> {
    this.queue(mail);
  }

  async addSignUpToken(
    claimed: ClaimedAccountMail,
    tokenHash: string,
    decide: (state: SignUpMailState) => SignUpMailDecision,
  ): Promise<SignUpMailDecision> {
    const { email, expiresAt } = claimed;
    const decision = decide({ holder: this.accounts.storedAt(email)?.account, mail: this.jobs.claimed(claimed) });
    if (decision === 'link') this.signUps.set(tokenHash, { email, expiresAt });
    return decision;
  }

  async claim(request: ClaimRequest): Promise<readonly ClaimedAccountMail[]> {
    return this.jobs.claim(request).map((job) => this.itemOf(job));
  }

  async markSent(id: AccountMailId): Promise<void> {
    this.jobs.markSent(id);
  }

  async markFailed(claim: Claim<AccountMailId>): Promise<void> {
    this.jobs.end(claim, 'failed');
  }

  async markDropped(claim: Claim<AccountMailId>): Promise<void> {
    this.jobs.end(claim, 'dropped');
  }

  async postpone(claim: Claim<AccountMailId>, pause: number): Promise<void> {
    this.jobs.postpone(claim, pause);
  }

  async release(claim: Claim<AccountMailId>): Promise<void> {
    this.jobs.release(claim);
  }

  async backlog(): Promise<Backlog> {
    return this.jobs.backlog();
  }

  async purge(expiredUntil: Instant): Promise<number> {
    return this.jobs.purge(({ status, expiresAt }) => status !== 'queued' && expiresAt <= expiredUntil);
  }

  /** Returns a function that restores the current state. */
  remember(): () => void {
    return remember(this.jobs.all);
  }

  link(kind: LinkKind, tokenHash: string): MailedLink | undefined {
    const link = this.links.get(tokenHash);
    const stored = link?.kind === kind ? this.accounts.stored(link.accountId) : undefined;
    if (link === undefined || stored === undefined) return undefined;
    const credentials = { account: stored.account, passwordHash: stored.passwordHash };
    const address = this.jobs.all.get(link.mailId)?.address;
    const isAddressTaken = address !== undefined && this.accounts.storedAt(address) !== undefined;
    return { credentials, expiresAt: link.expiresAt, address, isAddressTaken };
  }

  revoke(kind: LinkKind, id: AccountId): void {
    for (const link of this.links.values())
      if (link.accountId === id && link.kind === kind) this.links.delete(link.tokenHash);
    for (const job of this.jobs.queued())
      if (job.accountId === id && job.kind === kind)
        this.jobs.put({ ...job, expiresAt: instant(0), dueAt: instant(0) });
  }

  signUp(tokenHash: string): SignUpLink | undefined {
    const link = this.signUps.get(tokenHash);
    return link && { ...link, holder: this.accounts.storedAt(link.email)?.account };
  }

  /** Deletes the links with which an account of that address begins. */
  endSignUps(address: string): void {
    for (const [tokenHash, { email }] of this.signUps) if (email === address) this.signUps.delete(tokenHash);
  }

  /** Deletes the links that expired at or before that instant. Returns their number. */
  purgeLinks(until: Instant): number {
    let deleted = 0;
    for (const links of [this.links, this.signUps])
      for (const [tokenHash, { expiresAt }] of links) if (expiresAt <= until && links.delete(tokenHash)) deleted += 1;
    return deleted;
  }

  private itemOf(job: MailJob): ClaimedAccountMail {
    const { id, accountId, kind, about, createdAt, expiresAt, number, failures, address } = job;
    const email = address ?? (accountId === undefined ? '' : this.accounts.accountOf(accountId).email);
    return { id, accountId, kind, about, createdAt, expiresAt, number, failures, email };
  }
}
