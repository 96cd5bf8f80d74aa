import type { AccountId } from '../accounts/account.js';
import type { EventPosition } from '../events/event.js';
import { type Clock, type Instant, instant, later } from '../kernel/clock.js';
import type { Receiver } from '../webhooks/delivery.js';
import type { StoredWebhook, Webhook, WebhookHolder, WebhookId } from '../webhooks/webhook.js';
import type { WebhookRepository } from '../webhooks/webhook-repository.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import type { InMemoryEventFeed } from './in-memory-event-feed.js';

/** Events that are to be queued besides those behind the webhook's position. */
interface Recovery {
  readonly since: Instant;
  readonly position: EventPosition;
  readonly end: EventPosition;
}

/** A webhook with the state of its turns, as the columns of its row. */
export interface WebhookEntry extends Pick<Receiver, 'failedTurns' | 'failingSince' | 'attemptedAt'> {
  readonly webhook: StoredWebhook;
  readonly turns: number;
  readonly turnAt: Instant;
  readonly busyUntil: Instant;
  readonly pausedUntil: Instant;
  /** Milliseconds that its last turn took. */
  readonly took: number | undefined;
  readonly position: EventPosition;
  readonly followsSince: Instant;
  readonly recovery: Recovery | undefined;
}

export const NEVER = Infinity as Instant;
const AT_ONCE = instant(0);

export class InMemoryWebhookRepository implements WebhookRepository {
  readonly entries = new Map<WebhookId, WebhookEntry>();
  /** Webhooks whose deliveries are still to be deleted. */
  readonly deleted = new Set<WebhookId>();

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly events: InMemoryEventFeed,
    private readonly clock: Clock,
  ) {}

  async add(accountId: AccountId, decide: (state: WebhookHolder) => StoredWebhook): Promise<Webhook> {
    const webhook = decide({ account: this.accounts.stored(accountId)?.account, webhooks: this.of(accountId).length });
    this.entries.set(webhook.id, {
      webhook,
      turns: 0,
      turnAt: NEVER,
      busyUntil: AT_ONCE,
      pausedUntil: AT_ONCE,
      took: undefined,
      failedTurns: 0,
      failingSince: undefined,
      attemptedAt: undefined,
      position: this.events.last,
      followsSince: this.clock.now(),
      recovery: undefined,
    });
    return shown(webhook);
  }

  async findById(accountId: AccountId, id: WebhookId): Promise<Webhook | undefined> {
    const stored = this.stored(accountId, id);
    return stored && shown(stored);
  }

  async list(accountId: AccountId): Promise<readonly Webhook[]> {
    return this.of(accountId).map(shown);
  }

  async change(
    accountId: AccountId,
    id: WebhookId,
    decide: (webhook: StoredWebhook | undefined) => StoredWebhook,
  ): Promise<Webhook> {
    const stored = this.stored(accountId, id);
    const webhook = decide(stored);
    const entry = this.entries.get(id);
    if (stored === undefined || entry === undefined) throw new Error('it was decided on nothing');
    const isAnew = webhook.url !== stored.url || webhook.status !== stored.status;
    this.entries.set(id, { ...entry, webhook, ...(isAnew && { failedTurns: 0, failingSince: undefined }) });
    if (isAnew) this.wake(id);
    if (stored.status !== 'enabled' && webhook.status === 'enabled') this.follow(id);
    if (stored.status !== 'disabled' && webhook.status === 'disabled') this.keepUntaken(id);
    return shown(webhook);
  }

  async remove(accountId: AccountId, id: WebhookId, decide: (webhook: Webhook | undefined) => void): Promise<void> {
    const stored = this.stored(accountId, id);
    decide(stored && shown(stored));
    this.entries.delete(id);
    this.deleted.add(id);
  }

  deleteOfAccount(accountId: AccountId): void {
    for (const { id } of this.of(accountId)) {
      this.entries.delete(id);
      this.deleted.add(id);
    }
  }

  set(id: WebhookId, change: Partial<WebhookEntry>): void {
    const entry = this.entries.get(id);
    if (entry !== undefined) this.entries.set(id, { ...entry, ...change });
  }

  /** Makes the next turn due. An open turn is waited for. */
  wake(id: WebhookId): void {
    const entry = this.entries.get(id);
    const turnAt = later(this.clock.now(), Math.max(0, (entry?.busyUntil ?? 0) - this.clock.now()));
    this.set(id, { pausedUntil: AT_ONCE, turnAt });
  }

  /** What a webhook that gets disabled hasn't taken stays wanted. */
  keepUntaken(id: WebhookId): void {
    const { recovery, position = this.events.last } = this.entries.get(id) ?? {};
    const from = recovery === undefined || position < recovery.position ? position : recovery.position;
    this.set(id, { recovery: { since: recovery?.since ?? AT_ONCE, position: from, end: this.events.last } });
  }

  private follow(id: WebhookId): void {
    this.set(id, { position: this.events.last, followsSince: this.clock.now() });
  }

  private stored(accountId: AccountId, id: WebhookId): StoredWebhook | undefined {
    return this.of(accountId).find((webhook) => webhook.id === id);
  }

  private of(accountId: AccountId): readonly StoredWebhook[] {
    return [...this.entries.values()].map(({ webhook }) => webhook).filter((each) => each.accountId === accountId);
  }
}

function shown({ secrets, ...webhook }: StoredWebhook): Webhook {
  return webhook;
}
