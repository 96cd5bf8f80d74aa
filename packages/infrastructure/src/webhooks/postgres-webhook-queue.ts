import {
  type AccountId,
  type Claim,
  type ClaimedDelivery,
  deliveryId,
  type DeliveryId,
  deliveryNumber,
  type DeliveryQuery,
  type Instant,
  instant,
  INT64_MAX,
  type NewAccountMail,
  PING,
  pingData,
  type Receiver,
  type Transaction,
  type TurnEnd,
  type WebhookDelivery,
  type WebhookId,
  type WebhookQueue,
} from '@adoption-store/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { insertMail } from '../accounts/postgres-account-mail-queue.js';
import { Batch } from '../database/batch.js';
import { deletePortions } from '../database/delete-portions.js';
import { inTransaction, writeToDatabase } from '../database/transactions.js';
import { type ClaimRequest, milliseconds, PostgresDeliveryQueue } from '../deliveries/postgres-delivery-queue.js';
import type { LazyCipher } from './secret-cipher.js';
import { secretsFrom } from './webhook.schema.js';
import {
  CLAIM,
  type ClaimedRow,
  END_TURN,
  LIST,
  LOCK_TURN,
  MARK_SENT,
  PING_NOW,
  RECOVER,
  RETRY,
  type ShownRow,
  WAITING,
} from './webhook-queue-statements.js';

const QUEUE = {
  table: 'webhook_deliveries',
  claim: CLAIM,
  isLatest: '$2 = (SELECT turns FROM webhooks WHERE id = webhook_id)',
  waiting: WAITING,
};

interface Sent {
  readonly id: DeliveryId;
  readonly responseStatus: number | undefined;
}

export class PostgresWebhookQueue
  extends PostgresDeliveryQueue<DeliveryId, ClaimedDelivery, ClaimedRow>
  implements WebhookQueue
{
  /** Of all turns of this process. */
  private readonly sent = new Batch<Sent, void>(
    async (one) => this.storeSent([one]),
    async (all) => {
      await this.storeSent(all);
      return [];
    },
  );

  constructor(
    dataSource: DataSource,
    private readonly cipher: LazyCipher,
  ) {
    super(dataSource, QUEUE);
  }

  override async markSent(id: DeliveryId, responseStatus?: number): Promise<void> {
    await this.sent.add({ id, responseStatus });
  }

  override async postpone(claim: Claim<DeliveryId>, pause: number, responseStatus?: number): Promise<void> {
    const change = `due_at = now() + ${milliseconds('$3')}, failures = failures + 1, response_status = $4`;
    await this.end(claim, change, [pause, responseStatus]);
  }

  override async release({ id, number }: Claim<DeliveryId>): Promise<void> {
    const text = `
      UPDATE webhooks SET busy_until = now(), turn_at = now()
      WHERE turns = $2 AND id = (SELECT webhook_id FROM webhook_deliveries WHERE id = $1)`;
    await writeToDatabase(this.dataSource, (manager) => manager.query(text, [this.keyOf(id), number]));
  }

  override async markFailed(claim: Claim<DeliveryId>, responseStatus?: number): Promise<void> {
    await this.end(claim, `status = 'failed', failures = failures + 1, response_status = $3`, [responseStatus]);
  }

  async endTurn({ receiver, number }: ClaimedDelivery, end: TurnEnd, notice?: NewAccountMail): Promise<void> {
    await this.finish(receiver.id, number, end, notice);
  }

  async ping(webhookId: WebhookId, createdAt: Instant, transaction?: Transaction): Promise<WebhookDelivery> {
    const [ping] = await this.show(PING_NOW, [webhookId, new Date(createdAt)], transaction);
    if (ping === undefined) throw new Error('the ping was not stored');
    return ping;
  }

  async list({ webhookId, after, before, limit }: DeliveryQuery): Promise<readonly WebhookDelivery[]> {
    if (before !== undefined)
      return (await this.show(LIST('ASC'), [webhookId, this.keyOf(before), limit])).toReversed();
    return this.show(LIST('DESC'), [webhookId, after === undefined ? INT64_MAX : this.keyOf(after), limit]);
  }

  async retry(webhookId: WebhookId, id: DeliveryId, transaction?: Transaction): Promise<WebhookDelivery | undefined> {
    return (await this.show(RETRY, [webhookId, this.keyOf(id)], transaction))[0];
  }

  async recover(webhookId: WebhookId, since: Instant, transaction?: Transaction): Promise<void> {
    const store = (manager: EntityManager) => manager.query(RECOVER, [webhookId, new Date(since)]);
    await writeToDatabase(this.dataSource, store, transaction);
  }

  async purge(createdUntil: Instant): Promise<number> {
    const pings = { table: 'webhook_deliveries', time: 'created_at', where: 'position IS NULL' };
    return deletePortions(this.dataSource, pings, createdUntil);
  }

  protected async itemsFrom(rows: readonly ClaimedRow[], claim: ClaimRequest): Promise<readonly ClaimedDelivery[]> {
    const [first] = rows;
    if (first === undefined) return [];
    const { webhookId: id, turns: number, accountId, url, failedTurns } = first;
    const failingSince = first.failingSince === null ? undefined : instant(first.failingSince.getTime());
    const previousUntil = first.previousUntil === null ? null : instant(first.previousUntil.getTime());
    if (first.id === null) {
      // Nothing is due any more. The webhook gets no turn before something is, so this ends.
      await this.finish(id, number, { failedTurns, failingSince, pause: 0 });
      return this.claim(claim);
    }
    const cipher = await this.cipher.get();
    const receiver = {
      ...{ id, accountId: BigInt(accountId) as AccountId, url, failedTurns, failingSince },
      secrets: secretsFrom({ ...first, id, previousUntil }, cipher),
    };
    return rows.flatMap((row) => (row.id === null ? [] : [deliveryFrom({ ...row, id: row.id }, receiver)]));
  }

  protected override keyOf(id: DeliveryId): bigint {
    return deliveryNumber(id) ?? 0n;
  }

  private async finish(
    webhookId: WebhookId,
    turn: number,
    { failedTurns, failingSince, pause, disabled }: TurnEnd,
    notice?: NewAccountMail,
  ): Promise<void> {
    const since = failingSince === undefined ? null : new Date(failingSince);
    await inTransaction(this.dataSource, async (manager) => {
      const isLatest = (await manager.query<unknown[]>(LOCK_TURN, [webhookId, turn])).length > 0;
      if (!isLatest) return;
      await manager.query(END_TURN, [webhookId, pause, failedTurns, since, disabled !== undefined]);
      if (notice !== undefined) await insertMail(manager, notice);
    });
  }

  private async show(text: string, values: unknown[], transaction?: Transaction): Promise<readonly WebhookDelivery[]> {
    const query = (manager: EntityManager) => manager.query<ShownRow[]>(text, values);
    const rows = await writeToDatabase(this.dataSource, query, transaction);
    return rows.map(shownFrom);
  }

  private async storeSent(all: readonly Sent[]): Promise<void> {
    const values = [all.map(({ id }) => this.keyOf(id)), all.map(({ responseStatus }) => responseStatus)];
    await writeToDatabase(this.dataSource, (manager) => manager.query(MARK_SENT, values));
  }
}

function deliveryFrom(row: ClaimedRow & { readonly id: string }, receiver: Receiver): ClaimedDelivery {
  const { id, turns: number, failures, eventId, type, createdAt, data } = row;
  return {
    id: deliveryId(id),
    number,
    failures,
    eventId: eventId ?? undefined,
    type: type ?? PING,
    createdAt: instant(Number(createdAt)),
    data: data ?? pingData(receiver.id),
    receiver,
  };
}

function shownFrom({
  id,
  eventId,
  type,
  status,
  failures,
  responseStatus,
  createdAt,
  dueAt,
}: ShownRow): WebhookDelivery {
  return {
    id: deliveryId(id),
    eventId: eventId ?? undefined,
    type: type ?? PING,
    status,
    attempts: failures + (status === 'sent' ? 1 : 0),
    responseStatus: responseStatus ?? undefined,
    createdAt: instant(createdAt.getTime()),
    nextAttemptAt: status === 'queued' ? instant(dueAt.getTime()) : undefined,
  };
}
