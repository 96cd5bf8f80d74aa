import type { NewAccountMail } from '../accounts/account-mail.js';
import type { Claim, DeliveryQueue } from '../deliveries/delivery-queue.js';
import { type Clock, type Instant, later } from '../kernel/clock.js';
import {
  type ClaimedDelivery,
  deliveryId,
  type DeliveryId,
  type DeliveryStatus,
  PING,
  pingData,
  type TurnEnd,
  type WebhookDelivery,
} from '../webhooks/delivery.js';
import type { Webhook, WebhookId } from '../webhooks/webhook.js';
import type { DeliveryQuery, WebhookQueue } from '../webhooks/webhook-queue.js';
import type { InMemoryAccountMailQueue } from './in-memory-account-mail-queue.js';
import type { Stored } from './in-memory-event-feed.js';
import { InMemoryDeliveryQueue, type Job } from './in-memory-delivery-queue.js';
import type { InMemoryWebhookRepository } from './in-memory-webhook-repository.js';

interface DeliveryJob extends Job<DeliveryId, DeliveryStatus> {
  readonly webhookId: WebhookId;
  /** Undefined for a ping. */
  readonly event: Stored | undefined;
  readonly responseStatus: number | undefined;
}

export class InMemoryWebhookQueue
  extends InMemoryDeliveryQueue<DeliveryId, DeliveryJob, ClaimedDelivery>
  implements WebhookQueue
{
  private added = 0;

  constructor(
    private readonly webhooks: InMemoryWebhookRepository,
    private readonly mails: InMemoryAccountMailQueue,
    clock: Clock,
  ) {
    super(clock);
  }

  /** Queues the published event for each webhook that it is for. */
  publish(event: Stored): void {
    for (const { webhook } of this.webhooks.entries.values()) {
      if (webhook.status === 'enabled' && isFor(webhook, event)) this.add(webhook.id, event, event.createdAt);
    }
  }

  /** Deletes the deliveries of a purged event. */
  forget(event: Stored): void {
    for (const job of this.jobs.values()) if (job.event === event) this.jobs.delete(job.id);
  }

  untriedSince(): readonly Instant[] {
    return this.longestDue().flatMap(({ webhookId, failures, createdAt }) => {
      const receiver = this.webhooks.entries.get(webhookId);
      return receiver?.webhook.status === 'enabled' && receiver.failedTurns + failures === 0 ? [createdAt] : [];
    });
  }

  override async claim({
    limit,
    lease,
  }: Parameters<DeliveryQueue<DeliveryId, ClaimedDelivery>['claim']>[0]): Promise<readonly ClaimedDelivery[]> {
    const now = this.clock.now();
    const due = this.longestDue().filter(({ dueAt }) => dueAt <= now);
    const [turn] = due
      .flatMap(({ webhookId, dueAt }) => {
        const entry = this.webhooks.entries.get(webhookId);
        return entry?.webhook.status === 'enabled' && entry.turnAt <= now && limit > 0 ? [{ ...entry, dueAt }] : [];
      })
      .sort((one, other) => Math.max(one.turnAt, one.dueAt) - Math.max(other.turnAt, other.dueAt));
    if (turn === undefined) return [];
    const { id } = turn.webhook;
    const { dueAt, ...entry } = turn;
    const busyUntil = later(now, lease);
    this.webhooks.entries.set(id, { ...entry, turns: entry.turns + 1, turnAt: busyUntil, busyUntil });
    return due
      .filter(({ webhookId }) => webhookId === id)
      .slice(0, limit)
      .map((job) => this.itemOf(job));
  }

  override async markSent(id: DeliveryId, responseStatus?: number): Promise<void> {
    const job = this.jobs.get(id);
    if (job !== undefined) this.jobs.set(id, { ...job, status: 'sent', responseStatus });
  }

  override async postpone(claim: Claim<DeliveryId>, pause: number, responseStatus?: number): Promise<void> {
    const job = this.claimed(claim);
    if (job !== undefined) this.jobs.set(job.id, { ...job, responseStatus });
    await super.postpone(claim, pause);
  }

  override async release(claim: Claim<DeliveryId>): Promise<void> {
    const entry = this.entryOf(this.claimed(claim));
    const now = this.clock.now();
    if (entry !== undefined) this.webhooks.entries.set(entry.webhook.id, { ...entry, turnAt: now, busyUntil: now });
  }

  override async markFailed(claim: Claim<DeliveryId>, responseStatus?: number): Promise<void> {
    const job = this.claimed(claim);
    if (job === undefined) return;
    this.jobs.set(job.id, { ...job, status: 'failed', failures: job.failures + 1, responseStatus });
  }

  async endTurn({ receiver, number }: ClaimedDelivery, end: TurnEnd, notice?: NewAccountMail): Promise<void> {
    const entry = this.webhooks.entries.get(receiver.id);
    if (entry?.turns !== number) return;
    const { failedTurns, failingSince, pause, disabled } = end;
    const now = this.clock.now();
    const status = disabled === undefined ? entry.webhook.status : 'disabled';
    const webhook = disabled === undefined ? entry.webhook : { ...entry.webhook, status, updatedAt: now };
    const ended = { turnAt: later(now, pause), busyUntil: now };
    this.webhooks.entries.set(receiver.id, { ...entry, webhook, failedTurns, failingSince, ...ended });
    if (notice !== undefined) this.mails.queue(notice);
  }

  async ping(webhookId: WebhookId, createdAt: Instant): Promise<WebhookDelivery> {
    return shown(this.add(webhookId, undefined, createdAt));
  }

  async list({ webhookId, after, before, limit }: DeliveryQuery): Promise<readonly WebhookDelivery[]> {
    const own = [...this.jobs.values()].filter((job) => job.webhookId === webhookId).reverse();
    const place = own.findIndex(({ id }) => id === (after ?? before));
    if (before !== undefined) return own.slice(0, place).slice(-limit).map(shown);
    return own.slice(after === undefined ? 0 : place + 1, after === undefined ? limit : place + 1 + limit).map(shown);
  }

  async retry(webhookId: WebhookId, id: DeliveryId): Promise<WebhookDelivery | undefined> {
    const job = this.jobs.get(id);
    if (job?.webhookId !== webhookId) return undefined;
    return shown(this.queueAgain(job));
  }

  async recover(webhookId: WebhookId, since: Instant): Promise<void> {
    const entry = this.webhooks.entries.get(webhookId);
    if (entry === undefined) return;
    this.webhooks.entries.set(webhookId, { ...entry, webhook: { ...entry.webhook, recoveringSince: since } });
  }

  async purge(createdUntil: Instant): Promise<number> {
    const over = [...this.jobs.values()].filter(
      ({ event, createdAt }) => event === undefined && createdAt <= createdUntil,
    );
    for (const { id } of over) this.jobs.delete(id);
    return over.length;
  }

  protected override claimed({ id, number }: Claim<DeliveryId>): DeliveryJob | undefined {
    const job = this.jobs.get(id);
    return job?.status === 'queued' && this.entryOf(job)?.turns === number ? job : undefined;
  }

  protected override queued(): readonly DeliveryJob[] {
    return super.queued().filter((job) => this.entryOf(job)?.webhook.status === 'enabled');
  }

  protected itemOf(job: DeliveryJob): ClaimedDelivery {
    const entry = this.entryOf(job);
    if (entry === undefined) throw new Error('its webhook is gone');
    const { webhook, turns: number, failedTurns, failingSince } = entry;
    const { id, failures, event, createdAt } = job;
    const { url, accountId, secrets } = webhook;
    return {
      ...{ id, number, failures, createdAt: event?.createdAt ?? createdAt },
      ...{ eventId: event?.id, type: event?.type ?? PING, data: event?.data ?? pingData(webhook.id) },
      receiver: { id: webhook.id, accountId, url, secrets, failedTurns, failingSince },
    };
  }

  private entryOf(job: DeliveryJob | undefined) {
    return job && this.webhooks.entries.get(job.webhookId);
  }

  private add(webhookId: WebhookId, event: Stored | undefined, createdAt: Instant): DeliveryJob {
    this.added += 1;
    const id = deliveryId(String(this.added));
    const rest = {
      status: 'queued',
      number: 0,
      failures: 0,
      dueAt: this.clock.now(),
      responseStatus: undefined,
    } as const;
    const job = { id, webhookId, event, createdAt, ...rest };
    this.put(job);
    return job;
  }

  private queueAgain(job: DeliveryJob): DeliveryJob {
    const again: DeliveryJob = { ...job, status: 'queued', failures: 0, dueAt: this.clock.now() };
    this.jobs.set(job.id, again);
    return again;
  }
}

function isFor({ accountId, types }: Webhook, event: Stored): boolean {
  const isTheirs = event.receiver === undefined || event.receiver === accountId;
  return isTheirs && (types === undefined || types.includes(event.type));
}

function shown({ id, event, status, failures, responseStatus, createdAt, dueAt }: DeliveryJob): WebhookDelivery {
  return {
    ...{ id, eventId: event?.id, type: event?.type ?? PING, status, responseStatus, createdAt },
    attempts: failures + (status === 'sent' ? 1 : 0),
    nextAttemptAt: status === 'queued' ? dueAt : undefined,
  };
}
