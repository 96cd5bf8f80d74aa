import {
  type DeliveryAttempt,
  type DeliveryOutcome,
  type DueDelivery,
  type EndedRound,
  type Instant,
  instant,
  MINUTE,
  type Receiver,
  type Round,
  type RoundRequest,
  type WebhookBacklog,
  type WebhookQueue,
} from '@adoption-store/domain';
import type { DataSource } from 'typeorm';
import type { Lazy } from '../kernel/lazy.js';
import type { DeliveryIds } from './delivery-ids.js';
import { deliveryFrom } from './due-deliveries.js';
import type { SecretCipher } from './secret-cipher.js';
import { SettledDeliveries } from './settled-deliveries.js';
import { secretsFrom } from './stored-secrets.js';
import { readBacklog, wakeReceivers } from './untaken-events.js';
import { WebhookPurge } from './webhook-purge.js';
import { receiverFrom, type RoundRow, WebhookRounds } from './webhook-rounds.js';

/** The most rounds without a delivery that one call takes and ends. Then the webhook waits, so they are rarely many. */
const MOST_EMPTY_ROUNDS = 1_000;
/** Milliseconds until the next round of a webhook whose secret can't be decrypted. */
const UNREADABLE_PAUSE = MINUTE;

export class PostgresWebhookQueue implements WebhookQueue {
  private readonly rounds: WebhookRounds;
  private readonly settled: SettledDeliveries;
  private readonly purge: WebhookPurge;

  constructor(
    private readonly dataSource: DataSource,
    private readonly cipher: Lazy<SecretCipher>,
    private readonly ids: Lazy<DeliveryIds>,
  ) {
    this.rounds = new WebhookRounds(dataSource);
    this.settled = new SettledDeliveries(dataSource, ids);
    this.purge = new WebhookPurge(dataSource);
  }

  async wake(): Promise<number> {
    return wakeReceivers(this.dataSource);
  }

  async takeRound(request: RoundRequest): Promise<Round | undefined> {
    for (let empty = 0; empty < MOST_EMPTY_ROUNDS; empty += 1) {
      const claimed = await this.rounds.claim(request);
      if (claimed === undefined) return undefined;
      const { round: row } = claimed;
      const secrets = secretsFrom(row, await this.cipher.get());
      if (secrets === undefined) {
        await this.pass(row, UNREADABLE_PAUSE);
        continue;
      }
      const { rows, pause } = await this.rounds.fill(row, claimed.rows, request.limit);
      if (rows.length > 0) {
        const ids = await this.ids.get();
        const deliveries = rows.map((due) => deliveryFrom(due, row.id, ids));
        const takenAt = instant(Number(row.takenAt));
        return { number: row.round, takenAt, receiver: receiverFrom(row), secrets, deliveries };
      }
      await this.pass(row, pause);
    }
    return undefined;
  }

  async settle(delivery: DueDelivery, outcome: DeliveryOutcome, attempt: DeliveryAttempt): Promise<void> {
    await this.settled.add({ delivery, outcome, attempt });
  }

  async endRound(
    { receiver: { id }, number }: Round,
    took: number,
    decide: (receiver: Receiver) => EndedRound,
  ): Promise<void> {
    await this.rounds.end({ id, round: number }, (receiver) => {
      const { end, notice } = decide(receiver);
      return { end: { ...end, took }, notice };
    });
  }

  async backlog(): Promise<WebhookBacklog> {
    return readBacklog(this.dataSource);
  }

  async purgePings(createdUntil: Instant): Promise<number> {
    return this.purge.pings(createdUntil);
  }

  async purgeForgotten(): Promise<number> {
    return this.purge.forgotten();
  }

  /** Ends a round without an attempt. The next one is due after `pause` milliseconds at the earliest. */
  private async pass(row: RoundRow, pause: number): Promise<void> {
    await this.rounds.end(row, (receiver) => ({ end: { ...receiver, pause } }));
  }
}
