import { readFromDatabase } from '../database/on-database.js';
import {
  type AccountId,
  type AccountMessage,
  type Backlog,
  type Claim,
  type ClaimRequest,
  type ClaimedMessage,
  deliveryEnded,
  type Instant,
  instant,
  isProven,
  type Message,
  type MessageId,
  type MessageQuery,
  type MessageQueue,
  type MessageState,
  type OwnMessageQuery,
  type Queueing,
  type QueueingState,
  type Transaction,
} from '@adoption-store/domain';
import { type DataSource, type EntityManager, type FindOptionsWhere, Not } from 'typeorm';
import { deletePortions } from '../database/delete-portions.js';
import { JobTable } from '../deliveries/job-table.js';
import { scanOf } from '../database/prepared.js';
import { inTransaction } from '../database/transactions.js';
import { addEvents } from '../events/outbox.js';
import { accountMessageFrom, messageFrom, type MessageRow, messageSchema } from './message.schema.js';

type ClaimedRow = Omit<ClaimedMessage, 'accountId' | 'createdAt' | 'traceparent' | 'requestId' | 'isProven'> & {
  readonly accountId: string;
  readonly createdAt: Date;
  readonly traceparent: string | null;
  readonly requestId: string | null;
  readonly provenAt: Date | null;
  readonly credentialVersion: number;
};

const CLAIMED = `
  account_id AS "accountId", text, claimed.created_at AS "createdAt", traceparent, request_id AS "requestId",
  email AS from, proven_at AS "provenAt", credential_version AS "credentialVersion"`;

const LOCK_ACCOUNT = 'SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE';
// The row comparison makes it a range of one index. With `account_id = …` PostgreSQL might read every queued message.
const COUNT_QUEUED = `
  SELECT count(*)::integer AS queued FROM (
    SELECT FROM messages WHERE status = 'queued' AND (account_id, due_at) > ($1, '-infinity') AND account_id <= $1
    ORDER BY account_id, due_at LIMIT $2
  ) AS waiting`;

const lock = { mode: 'for_no_key_update' } as const;

export class TypeOrmMessageQueue implements MessageQueue {
  private readonly jobs: JobTable<MessageId, ClaimedRow>;

  constructor(private readonly dataSource: DataSource) {
    this.jobs = new JobTable(dataSource, 'messages', CLAIMED);
  }

  async add(
    { message: { accountId }, limit }: Queueing,
    decide: (state: QueueingState) => Message,
    transaction?: Transaction,
  ): Promise<Message> {
    const add = async (manager: EntityManager) => {
      await manager.query(LOCK_ACCOUNT, [accountId]);
      // This query begins with the account locked, so it sees all its earlier messages.
      const [state] = await manager.query<[QueueingState]>(COUNT_QUEUED, [accountId, limit]);
      const message = decide(state);
      await manager.insert(messageSchema, { ...message, dueAt: () => 'now()' });
      const { id, text, status, createdAt } = message;
      return { id, accountId, text, status, createdAt };
    };
    return inTransaction(this.dataSource, add, { within: transaction });
  }

  async findById(accountId: AccountId, id: MessageId): Promise<Message | undefined> {
    // PostgreSQL's text can't contain U+0000, so no id has it.
    if (id.includes('\0')) return undefined;
    const row = await readFromDatabase(this.dataSource, () =>
      this.dataSource.manager.findOneBy(messageSchema, { id, accountId }),
    );
    return row === null ? undefined : messageFrom(row);
  }

  async list({ accountId, status, after, limit }: MessageQuery): Promise<readonly AccountMessage[]> {
    const query = this.dataSource.manager
      .createQueryBuilder(messageSchema, 'message')
      .select(['message.id', 'message.accountId', 'message.status', 'message.createdAt'])
      .innerJoinAndSelect('message.account', 'account')
      .limit(limit);
    const position = { accountId, createdAt: after ? new Date(after.createdAt) : '-infinity', id: after?.id ?? '' };
    if (accountId === undefined) query.where('(message.createdAt, message.id) > (:createdAt, :id)', position);
    else {
      query.where('(message.accountId, message.createdAt, message.id) > (:accountId, :createdAt, :id)', position);
      query.andWhere('message.accountId <= :accountId').orderBy('message.accountId');
    }
    // A literal: a generic plan doesn't know a parameter's value, and so wouldn't use the index of failed messages.
    if (status !== undefined) query.andWhere(`message.status = 'failed'`);
    const rows = await readFromDatabase(this.dataSource, () =>
      query.addOrderBy('message.createdAt').addOrderBy('message.id').getMany(),
    );
    return rows.flatMap(accountMessageFrom);
  }

  /** A page is a range of the index by account and time. */
  async listOwn({ accountId, limit, ...place }: OwnMessageQuery): Promise<readonly Message[]> {
    const { position, beyond, end, direction, inOrder } = scanOf('DESC', place);
    const at = { accountId, createdAt: position ? new Date(position.createdAt) : 'infinity', id: position?.id ?? '' };
    const query = this.dataSource.manager
      .createQueryBuilder(messageSchema, 'message')
      .where(`(message.accountId, message.createdAt, message.id) ${beyond} (:accountId, :createdAt, :id)`, at)
      .andWhere(`message.accountId ${end} :accountId`)
      .orderBy('message.accountId', direction)
      .addOrderBy('message.createdAt', direction)
      .addOrderBy('message.id', direction)
      .limit(limit);
    return inOrder(await readFromDatabase(this.dataSource, () => query.getMany())).map(messageFrom);
  }

  async retry(id: MessageId, decide: (state: MessageState | undefined) => MessageState): Promise<void> {
    await inTransaction(this.dataSource, async (manager) => {
      // PostgreSQL's text can't contain U+0000, so no id has it.
      const row = id.includes('\0') ? null : await manager.findOne(messageSchema, { where: { id }, lock });
      const { status, failures } = decide(row ?? undefined);
      // Increases the number of claims, so that a worker with an earlier claim can no longer change the message.
      await manager.update(
        messageSchema,
        { id },
        { status, failures, claims: () => 'claims + 1', dueAt: () => 'now()' },
      );
    });
  }

  async claim(request: ClaimRequest): Promise<readonly ClaimedMessage[]> {
    return (await this.jobs.claim(request)).map(itemFrom);
  }

  async postpone(claim: Claim<MessageId>, pause: number): Promise<void> {
    await this.jobs.postpone(claim, pause);
  }

  async release(claim: Claim<MessageId>): Promise<void> {
    await this.jobs.release(claim);
  }

  async backlog(): Promise<Backlog> {
    return this.jobs.backlog();
  }

  async markSent(id: MessageId): Promise<void> {
    await this.endDelivery({ id, status: Not('sent') }, 'sent');
  }

  async markFailed({ id, number: claims }: Claim<MessageId>): Promise<void> {
    await this.endDelivery({ id, claims, status: 'queued' }, 'failed');
  }

  /** Also stores the event. */
  private async endDelivery(where: FindOptionsWhere<MessageRow>, status: 'sent' | 'failed'): Promise<void> {
    await inTransaction(this.dataSource, async (manager) => {
      const row = await manager.findOne(messageSchema, { where, lock });
      if (row === null) return;
      await manager.update(messageSchema, { id: row.id }, { status });
      await addEvents(manager, [deliveryEnded(messageFrom(row), status)]);
    });
  }

  async purge(writtenUntil: Instant): Promise<number> {
    const settled = { table: 'messages', time: 'created_at', where: "status <> 'queued'" };
    return deletePortions(this.dataSource, settled, writtenUntil);
  }
}

function itemFrom(claimed: ClaimedRow): ClaimedMessage {
  const { accountId, createdAt, traceparent, requestId, provenAt, credentialVersion, ...row } = claimed;
  return {
    ...row,
    accountId: BigInt(accountId) as AccountId,
    createdAt: instant(createdAt.getTime()),
    traceparent: traceparent ?? undefined,
    requestId: requestId ?? undefined,
    isProven: isProven({ provenAt: provenAt ? instant(provenAt.getTime()) : undefined, credentialVersion }),
  };
}
