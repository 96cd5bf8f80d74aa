import type { AccountId } from '../accounts/account.js';
import { type Clock, type Instant, instant } from '../kernel/clock.js';
import type { Receiver } from '../webhooks/delivery.js';
import type { StoredWebhook, Webhook, WebhookHolder, WebhookId } from '../webhooks/webhook.js';
import type { WebhookRepository } from '../webhooks/webhook-repository.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';

interface Entry extends Pick<Receiver, 'failedTurns' | 'failingSince'> {
  readonly webhook: StoredWebhook;
  readonly turns: number;
  readonly turnAt: Instant;
}

export class InMemoryWebhookRepository implements WebhookRepository {
  readonly entries = new Map<WebhookId, Entry>();

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly clock: Clock,
  ) {}

  async add(accountId: AccountId, decide: (state: WebhookHolder) => StoredWebhook): Promise<Webhook> {
    const webhook = decide({ account: this.accounts.stored(accountId)?.account, webhooks: this.of(accountId).length });
    this.entries.set(webhook.id, { webhook, turns: 0, turnAt: instant(0), failedTurns: 0, failingSince: undefined });
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
    const anew = { turns: entry.turns + 1, turnAt: this.clock.now(), failedTurns: 0, failingSince: undefined };
    this.entries.set(id, { ...entry, webhook, ...(isAnew ? anew : {}) });
    return shown(webhook);
  }

  async remove(accountId: AccountId, id: WebhookId, decide: (webhook: Webhook | undefined) => void): Promise<void> {
    const stored = this.stored(accountId, id);
    decide(stored && shown(stored));
    this.entries.delete(id);
  }

  deleteOfAccount(accountId: AccountId): void {
    for (const { id } of this.of(accountId)) this.entries.delete(id);
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
