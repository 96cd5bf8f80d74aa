import {
  type AccountId,
  type AccountMessage,
  type Backlog,
  type Claim,
  type ClaimedMessage,
  type Instant,
  instant,
  type Message,
  type MessageId,
  type MessageQuery,
  type MessageQueue,
  type MessageStatus,
  type NewMessage,
} from '@adoption-store/domain';
import type { DataSource, QueryDeepPartialEntity } from 'typeorm';
import type { DatabaseConnection } from '../database/data-source.js';
import { onDatabase, readFromDatabase } from '../database/database-errors.js';
import { deletePortions } from '../database/delete-portions.js';
import { NotificationListener } from '../database/notification-listener.js';
import { managerOf } from '../database/transactions.js';
import { accountMessageFrom, messageFrom, type MessageRow, messageSchema } from './message.schema.js';

/**
 * `due_at` moves to the end of the claim, so that no other worker takes the message; the number of claims distinguishes
 * a claim from a later one. Rows that another worker is claiming are skipped.
 */
const CLAIM = `
  WITH due AS (
    SELECT id, due_at FROM messages
    WHERE status = 'queued' AND due_at <= $1
    ORDER BY due_at LIMIT $3
    FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE messages SET claims = claims + 1, due_at = $2
    FROM due WHERE messages.id = due.id
    RETURNING messages.*, due.due_at AS was_due_at
  )
  SELECT claimed.id, account_id AS "accountId", text, claimed.created_at AS "createdAt", traceparent, claims AS number,
    failures, email AS from
  FROM claimed JOIN accounts ON accounts.id = account_id
  ORDER BY was_due_at`;

const BACKLOG = `SELECT count(*)::integer AS queued, min(created_at) AS oldest FROM messages WHERE status = 'queued'`;

/** Counts as a new claim, so that the holder of an earlier claim can't change anything. */
const RETRY = `
  WITH found AS (SELECT id, status FROM messages WHERE id = $1 FOR NO KEY UPDATE),
  retried AS (
    UPDATE messages SET status = 'queued', claims = claims + 1, failures = 0, due_at = $2
    FROM found WHERE messages.id = found.id AND found.status = 'failed'
  )
  SELECT status FROM found`;

type ClaimedRow = Omit<ClaimedMessage, 'accountId' | 'createdAt' | 'traceparent'> & {
  readonly accountId: string;
  readonly createdAt: Date;
  readonly traceparent: string | null;
};

/** A queue in a table: each row of a queued message is a job. */
export class TypeOrmMessageQueue implements MessageQueue {
  private readonly listeners: NotificationListener[] = [];

  constructor(
    private readonly dataSource: DataSource,
    private readonly connection: DatabaseConnection,
  ) {}

  async add({ id, accountId, text, createdAt, traceparent }: NewMessage): Promise<Message> {
    const message: Message = { id, accountId, text, createdAt, status: 'queued' };
    const row = { ...message, traceparent: traceparent ?? null, dueAt: createdAt };
    await onDatabase(() => managerOf(this.dataSource).insert(messageSchema, row));
    return message;
  }

  async findById(accountId: AccountId, id: MessageId): Promise<Message | undefined> {
    // PostgreSQL's text can't contain U+0000, so no id has it.
    if (id.includes('\0')) return undefined;
    const row = await readFromDatabase(this.dataSource, () =>
      managerOf(this.dataSource).findOneBy(messageSchema, { id, accountId }),
    );
    return row === null ? undefined : messageFrom(row);
  }

  async list({ accountId, status, after, limit }: MessageQuery): Promise<readonly AccountMessage[]> {
    const query = managerOf(this.dataSource)
      .createQueryBuilder(messageSchema, 'message')
      .select(['message.id', 'message.accountId', 'message.status', 'message.createdAt'])
      .innerJoinAndSelect('message.account', 'account')
      .limit(limit);
    const place = { accountId, createdAt: after ? new Date(after.createdAt) : '-infinity', id: after?.id ?? '' };
    if (accountId === undefined) query.where('(message.createdAt, message.id) > (:createdAt, :id)', place);
    else {
      query.where('(message.accountId, message.createdAt, message.id) > (:accountId, :createdAt, :id)', place);
      query.andWhere('message.accountId <= :accountId').orderBy('message.accountId');
    }
    // The status is written into the SQL: the index contains only failed messages, and a generic plan doesn't know a
    // parameter's value.
    if (status !== undefined) query.andWhere(`message.status = 'failed'`);
    const rows = await readFromDatabase(this.dataSource, () =>
      query.addOrderBy('message.createdAt').addOrderBy('message.id').getMany(),
    );
    return rows.flatMap(accountMessageFrom);
  }

  async retry(id: MessageId, now: Instant): Promise<MessageStatus | undefined> {
    if (id.includes('\0')) return undefined;
    const rows = await onDatabase(() =>
      managerOf(this.dataSource).query<{ readonly status: MessageStatus }[]>(RETRY, [id, new Date(now)]),
    );
    return rows[0]?.status;
  }

  async claim({ limit, now, until }: Parameters<MessageQueue['claim']>[0]): Promise<readonly ClaimedMessage[]> {
    const rows = await onDatabase(() =>
      managerOf(this.dataSource).query<ClaimedRow[]>(CLAIM, [new Date(now), new Date(until), limit]),
    );
    return rows.map(({ accountId, createdAt, traceparent, ...row }) => ({
      ...row,
      accountId: BigInt(accountId) as AccountId,
      createdAt: instant(createdAt.getTime()),
      traceparent: traceparent ?? undefined,
    }));
  }

  async markSent(id: MessageId): Promise<void> {
    await onDatabase(() => managerOf(this.dataSource).update(messageSchema, { id }, { status: 'sent' }));
  }

  async postpone(claim: Claim, dueAt: Instant): Promise<void> {
    await this.end(claim, { dueAt, failures: () => 'failures + 1' });
  }

  async release(claim: Claim, now: Instant): Promise<void> {
    await this.end(claim, { dueAt: now });
  }

  async markFailed(claim: Claim): Promise<void> {
    await this.end(claim, { status: 'failed' });
  }

  private async end({ id, number }: Claim, change: QueryDeepPartialEntity<MessageRow>): Promise<void> {
    const claimed = { id, claims: number, status: 'queued' as const };
    await onDatabase(() => managerOf(this.dataSource).update(messageSchema, claimed, change));
  }

  async forget(writtenUntil: Instant): Promise<number> {
    const settled = { table: 'messages', time: 'created_at', where: "status <> 'queued'" };
    return deletePortions(this.dataSource, settled, writtenUntil);
  }

  async backlog(): Promise<Backlog> {
    const [row] = await readFromDatabase(this.dataSource, () =>
      managerOf(this.dataSource).query<[{ queued: number; oldest: Date | null }]>(BACKLOG),
    );
    return { queued: row.queued, oldest: row.oldest === null ? undefined : instant(row.oldest.getTime()) };
  }

  /** Each watcher has its own connection, so a process that only adds messages has none. */
  watch(onQueued: () => void): () => Promise<void> {
    const listener = new NotificationListener(this.connection, 'message_queued', onQueued);
    this.listeners.push(listener);
    listener.start();
    return () => listener.close();
  }

  /** Stops all watchers. */
  async close(): Promise<void> {
    await Promise.all(this.listeners.map((listener) => listener.close()));
  }
}
