import type { EventPosition } from '../events/event.js';
import { type Clock, type Instant, instant, later } from '../kernel/clock.js';
import {
  type DeliveryAttempt,
  deliveryBody,
  type DeliveryId,
  type DeliveryOutcome,
  type DeliveryStatus,
  type DeliveryWithBody,
  type DueDelivery,
  KEPT_ATTEMPTS,
  PING,
  pingData,
  type Receiver,
  SLOW_WAIT,
  type Round,
  type WebhookDelivery,
} from '../webhooks/delivery.js';
import { decideNextRound, decidePortion, MOST_BYTES, MOST_TAKEN } from '../webhooks/follower.js';
import { DELIVERY_SCOPES, MOST_PINGS, type Webhook, type WebhookId } from '../webhooks/webhook.js';
import type {
  DeliveryQuery,
  EndedRound,
  RoundRequest,
  WebhookBacklog,
  WebhookDeliveries,
  WebhookQueue,
} from '../webhooks/webhook-queue.js';
import type { InMemoryAccountMailQueue } from './in-memory-account-mail-queue.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import type { InMemoryEventFeed, Stored } from './in-memory-event-feed.js';
import { remember } from './in-memory-idempotency-records.js';
import type { InMemoryWebhookRepository, WebhookEntry } from './in-memory-webhook-repository.js';

interface DeliveryJob {
  readonly id: DeliveryId;
  readonly webhookId: WebhookId;
  /** Undefined for a ping. */
  readonly position: EventPosition | undefined;
  readonly event: Stored | undefined;
  readonly status: DeliveryStatus;
  readonly failures: number;
  readonly requeued: number;
  readonly history: readonly DeliveryAttempt[];
  readonly createdAt: Instant;
  readonly dueAt: Instant;
}

export class InMemoryWebhookQueue implements WebhookQueue, WebhookDeliveries {
  private readonly jobs = new Map<DeliveryId, DeliveryJob>();
  private added = 0;

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly webhooks: InMemoryWebhookRepository,
    private readonly events: InMemoryEventFeed,
    private readonly mails: InMemoryAccountMailQueue,
    private readonly clock: Clock,
  ) {
    webhooks.memories.push(() => remember(this.jobs));
  }

  async wake(): Promise<number> {
    const now = this.clock.now();
    const resting = [...this.webhooks.entries.values()].filter(
      (entry) =>
        entry.webhook.status === 'enabled' &&
        entry.roundAt > Math.max(entry.busyUntil, entry.pausedUntil, now) &&
        this.untaken(entry).length > 0,
    );
    for (const { webhook, busyUntil, pausedUntil } of resting) {
      this.webhooks.set(webhook.id, { roundAt: instant(Math.max(busyUntil, pausedUntil, now)) });
    }
    return resting.length;
  }

  async takeRound({ limit, lease, longestRound = Infinity }: RoundRequest): Promise<Round | undefined> {
    for (;;) {
      const entry = this.longestDue().find(({ took = Infinity }) => took <= longestRound);
      if (entry === undefined) return undefined;
      const { id } = entry.webhook;
      const takenAt = this.clock.now();
      const until = later(takenAt, lease);
      const number = entry.rounds + 1;
      this.webhooks.set(id, { rounds: number, busyUntil: until, roundAt: until });
      if (this.due(id).length < limit) this.take(id);
      const deliveries = withinSize(this.due(id).slice(0, limit).map(itemOf));
      if (deliveries.length > 0) {
        return { number, takenAt, receiver: receiverOf(entry), secrets: entry.secrets, deliveries };
      }
      this.rest(id, 0);
    }
  }

  async settle({ id, requeued }: DueDelivery, outcome: DeliveryOutcome, attempt: DeliveryAttempt): Promise<void> {
    const job = this.jobs.get(id);
    if (job?.requeued !== requeued || (job.status !== 'queued' && outcome.status !== 'sent')) return;
    const failures = job.failures + (outcome.status === 'sent' ? 0 : 1);
    const dueAt = outcome.status === 'queued' ? later(this.clock.now(), outcome.pause) : job.dueAt;
    const history = [...job.history, attempt].slice(-KEPT_ATTEMPTS);
    this.jobs.set(id, { ...job, status: outcome.status, failures, dueAt, history });
  }

  async endRound({ receiver: { id }, number }: Round, took: number, decide: (receiver: Receiver) => EndedRound) {
    const entry = this.webhooks.entries.get(id);
    if (entry?.rounds !== number) return;
    const { end, notice } = decide(receiverOf(entry));
    const { status, updatedAt, failedRounds, failingSince, pause } = end;
    const webhook = { ...entry.webhook, status, updatedAt };
    this.webhooks.set(id, { webhook, failedRounds, failingSince, attemptedAt: this.clock.now(), took });
    this.webhooks.switch(entry, status);
    this.rest(id, pause);
    if (notice !== undefined) this.mails.queue(notice);
  }

  async ping(webhookId: WebhookId, createdAt: Instant): Promise<WebhookDelivery | undefined> {
    const waiting = this.queued(webhookId).filter(({ position }) => position === undefined);
    if (waiting.length >= MOST_PINGS) return undefined;
    this.webhooks.wake(webhookId);
    return this.shown(this.add({ webhookId, position: undefined, event: undefined, createdAt }));
  }

  async list({ webhookId, after, before, limit }: DeliveryQuery): Promise<readonly WebhookDelivery[]> {
    const own = this.kept(webhookId).reverse();
    const place = own.findIndex(({ id }) => id === (after ?? before));
    const part = before === undefined ? own.slice(place + 1).slice(0, limit) : own.slice(0, place).slice(-limit);
    return part.map((job) => this.shown(job));
  }

  async find(webhookId: WebhookId, id: DeliveryId): Promise<DeliveryWithBody | undefined> {
    const job = this.kept(webhookId).find((each) => each.id === id);
    return job && { delivery: this.shown(job), body: deliveryBody(itemOf(job)) };
  }

  async retry(webhookId: WebhookId, id: DeliveryId): Promise<WebhookDelivery | undefined> {
    const job = this.kept(webhookId).find((each) => each.id === id);
    if (job === undefined) return undefined;
    this.webhooks.wake(webhookId);
    return this.shown(this.queueAgain(job));
  }

  async recover(webhookId: WebhookId, since: Instant): Promise<void> {
    this.webhooks.set(webhookId, { recovery: { since, after: undefined, end: this.events.last } });
    this.webhooks.wish(webhookId, since);
    this.webhooks.wake(webhookId);
  }

  async backlog(): Promise<WebhookBacklog> {
    const now = this.clock.now();
    const enabled = [...this.webhooks.entries.values()].filter(({ webhook }) => webhook.status === 'enabled');
    const served = enabled.filter((entry) => this.isServed(entry));
    const waiting = served.flatMap((entry) => [...this.queued(entry.webhook.id), ...this.untaken(entry)]);
    const due = served.filter((entry) => entry.failedRounds === 0 && entry.busyUntil <= now && entry.roundAt <= now);
    const [dueSince] = due.map(({ roundAt }) => roundAt).sort((one, other) => one - other);
    return {
      waiting: waiting.length,
      failing: enabled.filter(({ failedRounds }) => failedRounds > 0).length,
      dueSince,
    };
  }

  async purgePings(createdUntil: Instant): Promise<number> {
    return this.delete(({ position, createdAt }) => position === undefined && createdAt <= createdUntil);
  }

  async purgeForgotten(): Promise<number> {
    const deleted = this.delete(
      ({ webhookId, position }) =>
        this.webhooks.deleted.has(webhookId) || (position !== undefined && position <= this.events.purgedUntil),
    );
    this.webhooks.deleted.clear();
    return deleted;
  }

  /** Queues deliveries of the next events of the feed, and of a portion of those to recover. */
  private take(id: WebhookId): void {
    const entry = this.webhooks.entries.get(id);
    if (entry === undefined) return;
    const { webhook, recovery } = entry;
    const next = this.untaken(entry).slice(0, MOST_TAKEN);
    for (const [position, event] of next) {
      if (event.createdAt >= entry.followsSince) this.addOnce(id, position, event);
    }
    const position = next.length === MOST_TAKEN ? next.at(-1)?.[0] : this.events.last;
    if (position !== undefined) this.webhooks.set(id, { position });
    if (recovery === undefined) return;
    const { since = 0 } = recovery;
    const { after, until, rest } = decidePortion(recovery, this.events.purgedUntil);
    for (const [each, event] of this.events.after(after)) {
      if (each > until || event.createdAt < since || !isFor(webhook, event)) continue;
      const job = this.kept(id).find((other) => other.position === each);
      if (job === undefined) this.addOnce(id, each, event);
      else if (job.status === 'failed') this.queueAgain(job);
    }
    this.webhooks.set(id, { recovery: rest });
    this.webhooks.wish(id, rest?.since);
  }

  private rest(id: WebhookId, pause: number): void {
    const entry = this.webhooks.entries.get(id);
    if (entry === undefined) return;
    const now = this.clock.now();
    const [next] = this.queued(id);
    const times = decideNextRound({ ...entry, dueAt: next?.dueAt }, pause, { end: this.events.last, now });
    this.webhooks.set(id, { busyUntil: now, ...times });
  }

  private longestDue(): readonly WebhookEntry[] {
    const now = this.clock.now();
    const entries = [...this.webhooks.entries.values()];
    const open = (entry: WebhookEntry) =>
      entries.filter((each) => each.busyUntil > now && each.webhook.accountId === entry.webhook.accountId).length;
    return entries
      .filter((entry) => entry.webhook.status === 'enabled' && entry.roundAt <= now && this.isServed(entry))
      .sort((one, other) => positionOf(one) - positionOf(other))
      .sort((one, other) => open(one) - open(other));
  }

  /** Whether the account has the scopes that deliveries need. */
  private isServed({ webhook }: WebhookEntry): boolean {
    const scopes = this.accounts.stored(webhook.accountId)?.account.scopes;
    return scopes === undefined || DELIVERY_SCOPES.every((scope) => scopes.includes(scope));
  }

  /** The events after the webhook's position that it receives. */
  private untaken({ webhook, position }: WebhookEntry): readonly (readonly [EventPosition, Stored])[] {
    return this.events.after(position).filter(([, event]) => isFor(webhook, event));
  }

  /** The webhook's deliveries, without those of purged events. */
  private kept(webhookId: WebhookId): DeliveryJob[] {
    return [...this.jobs.values()].filter(
      (job) => job.webhookId === webhookId && (job.position === undefined || job.position > this.events.purgedUntil),
    );
  }

  private queued(webhookId: WebhookId): readonly DeliveryJob[] {
    const queued = this.kept(webhookId).filter(({ status }) => status === 'queued');
    return queued.sort((one, other) => one.dueAt - other.dueAt);
  }

  private due(webhookId: WebhookId): readonly DeliveryJob[] {
    return this.queued(webhookId).filter(({ dueAt }) => dueAt <= this.clock.now());
  }

  private addOnce(webhookId: WebhookId, position: EventPosition, event: Stored): void {
    const isThere = this.kept(webhookId).some((job) => job.position === position);
    if (!isThere) this.add({ webhookId, position, event, createdAt: this.clock.now() });
  }

  private add(delivery: Pick<DeliveryJob, 'webhookId' | 'position' | 'event' | 'createdAt'>): DeliveryJob {
    this.added += 1;
    const id = `dlv_${this.added.toString(16).padStart(32, '0')}` as DeliveryId;
    const dueAt = this.clock.now();
    const job: DeliveryJob = { ...delivery, id, status: 'queued', failures: 0, requeued: 0, history: [], dueAt };
    this.jobs.set(id, job);
    return job;
  }

  private queueAgain(job: DeliveryJob): DeliveryJob {
    const requeued = job.requeued + 1;
    const again: DeliveryJob = { ...job, status: 'queued', failures: 0, requeued, dueAt: this.clock.now() };
    this.jobs.set(job.id, again);
    return again;
  }

  private delete(isOver: (job: DeliveryJob) => boolean): number {
    const over = [...this.jobs.values()].filter(isOver);
    for (const { id } of over) this.jobs.delete(id);
    return over.length;
  }

  private shown(job: DeliveryJob): WebhookDelivery {
    const isEnabled = this.webhooks.entries.get(job.webhookId)?.webhook.status === 'enabled';
    return {
      id: job.id,
      eventId: job.event?.id,
      type: job.event?.type ?? PING,
      status: job.status,
      attempts: job.failures + (job.status === 'sent' ? 1 : 0),
      responseStatus: job.history.at(-1)?.responseStatus,
      history: job.history,
      createdAt: job.createdAt,
      nextAttemptAt: job.status === 'queued' && isEnabled ? job.dueAt : undefined,
    };
  }
}

function positionOf({ roundAt, took = 0 }: WebhookEntry): number {
  return roundAt + took * SLOW_WAIT;
}

function receiverOf({ webhook, failedRounds, failingSince, attemptedAt }: WebhookEntry): Receiver {
  const { id, accountId, url, description, status, updatedAt } = webhook;
  return { id, accountId, url, description, status, updatedAt, failedRounds, failingSince, attemptedAt };
}

function itemOf({ id, webhookId, event, failures, requeued, createdAt }: DeliveryJob): DueDelivery {
  return {
    id,
    failures,
    requeued,
    eventId: event?.id,
    type: event?.type ?? PING,
    sequence: event?.sequence,
    createdAt: event?.createdAt ?? createdAt,
    data: event?.data ?? pingData(webhookId),
  };
}

function withinSize(deliveries: readonly DueDelivery[]): readonly DueDelivery[] {
  let size = 0;
  return deliveries.filter(({ data }, place) => {
    size += data.length;
    return place === 0 || size <= MOST_BYTES;
  });
}

function isFor({ accountId, types }: Webhook, event: Stored): boolean {
  const isTheirs = event.receiver === undefined || event.receiver === accountId;
  return isTheirs && (types === undefined || types.includes(event.type));
}
