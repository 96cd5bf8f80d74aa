import {
  type AccountId,
  type AccountMailId,
  type AccountMailQueue,
  type Backlog,
  type Claim,
  type ClaimRequest,
  type ClaimedAccountMail,
  type ClaimedLinkMail,
  COUNTED_NOTICES,
  decideNotice,
  type Instant,
  instant,
  later,
  type LinkKind,
  type LinkMailState,
  type NewAccountMail,
  type NewLinkMail,
  type NewSignUpMail,
  NOTICE_HOUR,
  type NoticeState,
  type SignUpMailDecision,
  type SignUpMailState,
  type TokenState,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { interval } from '../database/columns.js';
import { deletePortions } from '../database/delete-portions.js';
import { JobTable } from '../deliveries/job-table.js';
import { inTransaction, writeToDatabase } from '../database/transactions.js';
import { findLocked, findOpen, withAddress } from './account-queries.js';

/** The tables of usable links, by the kind of their mail. All have the same columns. */
export const LINKS: Readonly<Record<LinkKind, string>> = {
  reset: 'password_resets',
  change: 'address_changes',
};

/** Sets queued mails to expired and due, so that a worker drops them at once, and counts them in its metrics. */
export const EXPIRE_MAILS = `
  UPDATE account_mails SET expires_at = to_timestamp(0), due_at = to_timestamp(0)
  WHERE account_id = $1 AND kind = $2 AND status = 'queued'`;

const CLAIMED = `
  account_id AS "accountId", kind, about, claimed.created_at AS "createdAt", expires_at AS "expiresAt",
  coalesce(address, email) AS email`;

/** Queued mails, and mails whose links can still be used. */
const usableMails = (kind: LinkKind) => `
  SELECT id FROM account_mails WHERE account_id = $1 AND kind = '${kind}' AND status = 'queued' AND expires_at > $2
  UNION
  SELECT mail_id FROM ${LINKS[kind]} WHERE account_id = $1 AND expires_at > $2`;

const ADD = `
  INSERT INTO account_mails (id, account_id, kind, address, about, status, due_at, created_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, 'queued', now() + ${interval('$8')}, $6, $7)`;

const RECENT = `
  SELECT count(*)::integer AS recent FROM account_mails
  WHERE account_id = $1 AND created_at > $3 AND address = $2 AND kind = ANY($4)`;

// Locked, so that no worker claims it meanwhile. One that a worker has claimed may be on its way.
const MORE = `
  SELECT id, about FROM account_mails
  WHERE account_id = $1 AND created_at > $3 AND address = $2
    AND kind = 'more' AND status = 'queued' AND claims = 0 AND expires_at > $3
  FOR NO KEY UPDATE LIMIT 1`;

const CLAIMED_MAIL = `
  SELECT created_at AS "createdAt", expires_at AS "expiresAt" FROM account_mails
  WHERE id = $1 AND claims = $2 AND status = 'queued'`;

/** The mails of those who sign up stand in no account's line. */
const CLAIM_SIGN_UPS = `
  WITH due AS MATERIALIZED (
    SELECT id FROM account_mails WHERE status = 'queued' AND account_id IS NULL AND due_at <= now()
    ORDER BY due_at LIMIT $2
    FOR NO KEY UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE account_mails AS job SET claims = claims + 1, due_at = now() + ${interval('$1')}
    FROM due WHERE job.id = due.id
    RETURNING job.*
  )
  SELECT id, claims AS number, failures, NULL AS "accountId", kind, about, created_at AS "createdAt",
    expires_at AS "expiresAt", address AS email
  FROM claimed ORDER BY created_at`;

/** Inserts a mail in the manager's transaction. */
export async function insertMail(manager: EntityManager, mail: NewAccountMail): Promise<void> {
  const { id, accountId, kind, address, about, createdAt, expiresAt, wait = 0 } = mail;
  const times = [new Date(createdAt), new Date(expiresAt), wait];
  await manager.query(ADD, [id, accountId, kind, address, about, ...times]);
}

/** Queues the notice as `decideNotice` decides. Its account must be locked, so that notices are counted one by one. */
export async function queueNotice(manager: EntityManager, notice: NewAccountMail | undefined): Promise<void> {
  if (notice === undefined) return;
  const { accountId, address, createdAt } = notice;
  const since = new Date(later(createdAt, -NOTICE_HOUR));
  const [{ recent }] = await manager.query<[{ recent: number }]>(RECENT, [accountId, address, since, COUNTED_NOTICES]);
  const [more] = await manager.query<WaitingNotice[]>(MORE, [accountId, address, new Date(createdAt)]);
  const decision = decideNotice({ recent, more }, notice);
  if ('added' in decision) return insertMail(manager, decision.added);
  const { id, about } = decision.raised;
  await manager.query('UPDATE account_mails SET about = $2 WHERE id = $1', [id, about]);
}

type WaitingNotice = NonNullable<NoticeState['more']>;

interface ClaimedRow extends Omit<ClaimedAccountMail, 'accountId' | 'about' | 'createdAt' | 'expiresAt'> {
  readonly accountId: string | null;
  readonly about: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export class PostgresAccountMailQueue implements AccountMailQueue {
  private readonly jobs: JobTable<AccountMailId, ClaimedRow>;

  constructor(private readonly dataSource: DataSource) {
    this.jobs = new JobTable(dataSource, 'account_mails', CLAIMED);
  }

  async add(mail: NewLinkMail, decide: (state: LinkMailState) => boolean): Promise<boolean> {
    const { accountId, kind, createdAt } = mail;
    return inTransaction(this.dataSource, async (manager) => {
      const account = await findLocked(manager, { id: accountId });
      const usable = await manager.query<unknown[]>(usableMails(kind), [accountId, new Date(createdAt)]);
      const isQueued = decide({ account, usable: usable.length });
      if (isQueued) await insertMail(manager, mail);
      return isQueued;
    });
  }

  async addToken(
    claimed: ClaimedLinkMail,
    tokenHash: string,
    decide: (state: TokenState) => boolean,
  ): Promise<boolean> {
    const { id, accountId, kind, expiresAt } = claimed;
    return inTransaction(this.dataSource, async (manager) => {
      // Links are revoked under the same lock.
      const account = await findLocked(manager, { id: accountId });
      const isAdded = decide({ account, mail: await claimedMail(manager, claimed) });
      if (!isAdded) return false;
      const add = `INSERT INTO ${LINKS[kind]} (token_hash, account_id, expires_at, mail_id) VALUES ($1, $2, $3, $4)`;
      await manager.query(add, [tokenHash, accountId, new Date(expiresAt), id]);
      return true;
    });
  }

  async addSignUp(mail: NewSignUpMail): Promise<void> {
    await writeToDatabase(this.dataSource, (manager) => insertMail(manager, mail));
  }

  async addSignUpToken(
    claimed: ClaimedAccountMail,
    tokenHash: string,
    decide: (state: SignUpMailState) => SignUpMailDecision,
  ): Promise<SignUpMailDecision> {
    const { email, expiresAt } = claimed;
    return inTransaction(this.dataSource, async (manager) => {
      const holder = await findOpen(manager, { email: withAddress(email) });
      const decision = decide({ holder, mail: await claimedMail(manager, claimed) });
      const add = 'INSERT INTO sign_ups (token_hash, email, expires_at) VALUES ($1, $2, $3)';
      if (decision === 'link') await manager.query(add, [tokenHash, email, new Date(expiresAt)]);
      return decision;
    });
  }

  async claim(request: ClaimRequest): Promise<readonly ClaimedAccountMail[]> {
    const claimed = await this.jobs.claim(request);
    const left = request.limit - claimed.length;
    const signUps = left === 0 ? [] : await this.claimSignUps(left, request.lease);
    return [...claimed, ...signUps].map(itemFrom);
  }

  async markSent(id: AccountMailId): Promise<void> {
    await this.jobs.markSent(id);
  }

  async markFailed(claim: Claim<AccountMailId>): Promise<void> {
    await this.jobs.end(claim, 'failed');
  }

  async markDropped(claim: Claim<AccountMailId>): Promise<void> {
    await this.jobs.end(claim, 'dropped');
  }

  async postpone(claim: Claim<AccountMailId>, pause: number): Promise<void> {
    await this.jobs.postpone(claim, pause);
  }

  async release(claim: Claim<AccountMailId>): Promise<void> {
    await this.jobs.release(claim);
  }

  async backlog(): Promise<Backlog> {
    return this.jobs.backlog();
  }

  async purge(expiredUntil: Instant): Promise<number> {
    const settled = { table: 'account_mails', time: 'expires_at', where: "status <> 'queued'" };
    return deletePortions(this.dataSource, settled, expiredUntil);
  }

  private async claimSignUps(limit: number, lease: number): Promise<readonly ClaimedRow[]> {
    return writeToDatabase(this.dataSource, (manager) => manager.query<ClaimedRow[]>(CLAIM_SIGN_UPS, [lease, limit]));
  }
}

/** The mail, unless it isn't queued or has been claimed again. */
async function claimedMail(manager: EntityManager, { id, number }: Claim<AccountMailId>) {
  const [mail] = await manager.query<{ createdAt: Date; expiresAt: Date }[]>(CLAIMED_MAIL, [id, number]);
  return mail && { createdAt: instant(mail.createdAt.getTime()), expiresAt: instant(mail.expiresAt.getTime()) };
}

function itemFrom({ accountId, about, createdAt, expiresAt, ...row }: ClaimedRow): ClaimedAccountMail {
  return {
    ...row,
    accountId: accountId === null ? undefined : (BigInt(accountId) as AccountId),
    about: about ?? undefined,
    createdAt: instant(createdAt.getTime()),
    expiresAt: instant(expiresAt.getTime()),
  };
}
