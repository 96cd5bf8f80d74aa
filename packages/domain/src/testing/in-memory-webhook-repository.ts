import type { AccountId } from '../accounts/account.js';
import { type Clock, type Instant, instant } from '../kernel/clock.js';
import type { Receiver } from '../webhooks/delivery.js';
import {
  type NewWebhook,
  type SecretRotationState,
  type SecretRotation,
  stillSigning,
  type Webhook,
  type WebhookHolder,
  type WebhookId,
  type WebhookSecrets,
} from '../webhooks/webhook.js';
import type {
  AccountWebhook,
  ReencryptedPart,
  SecretCounts,
  WebhookPart,
  WebhookQuery,
  WebhookRepository,
} from '../webhooks/webhook-repository.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';

interface Entry extends Pick<Receiver, 'failedTurns' | 'failingSince'> {
  readonly webhook: Webhook;
  readonly secrets: WebhookSecrets;
  readonly turns: number;
  readonly turnAt: Instant;
}

export class InMemoryWebhookRepository implements WebhookRepository {
  readonly entries = new Map<WebhookId, Entry>();

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly clock: Clock,
  ) {}

  async add(accountId: AccountId, decide: (state: WebhookHolder) => NewWebhook): Promise<Webhook> {
    const { secret, ...webhook } = decide({
      account: this.accounts.stored(accountId)?.account,
      webhooks: this.of(accountId).length,
    });
    this.entries.set(webhook.id, {
      webhook,
      secrets: { current: secret, past: [] },
      turns: 0,
      turnAt: instant(0),
      failedTurns: 0,
      failingSince: undefined,
    });
    return webhook;
  }

  async findById(accountId: AccountId, id: WebhookId): Promise<Webhook | undefined> {
    return this.stored(accountId, id)?.webhook;
  }

  async list(accountId: AccountId): Promise<readonly Webhook[]> {
    return this.of(accountId).map(({ webhook }) => webhook);
  }

  async change(
    accountId: AccountId,
    id: WebhookId,
    decide: (webhook: Webhook | undefined) => Webhook,
  ): Promise<Webhook> {
    const entry = this.stored(accountId, id);
    const webhook = decide(entry?.webhook);
    if (entry === undefined) throw new Error('it was decided on nothing');
    const isAnew = webhook.url !== entry.webhook.url || webhook.status !== entry.webhook.status;
    const anew = { turns: entry.turns + 1, turnAt: this.clock.now(), failedTurns: 0, failingSince: undefined };
    this.entries.set(id, { ...entry, webhook, ...(isAnew ? anew : {}) });
    return webhook;
  }

  async rotate(
    accountId: AccountId,
    id: WebhookId,
    decide: (state: SecretRotationState | undefined) => SecretRotation,
  ): Promise<Webhook> {
    const entry = this.stored(accountId, id);
    const { webhook, secret, until } = decide(
      entry && { webhook: entry.webhook, past: entry.secrets.past.map(({ until: end }) => ({ until: end })) },
    );
    if (entry === undefined) throw new Error('it was decided on nothing');
    const { current, past } = entry.secrets;
    const signing = stillSigning(past, webhook.updatedAt);
    const secrets = { current: secret, past: [{ secret: current, until }, ...signing] };
    this.entries.set(id, { ...entry, webhook, secrets });
    return webhook;
  }

  async remove(accountId: AccountId, id: WebhookId, decide: (webhook: Webhook | undefined) => void): Promise<void> {
    decide(this.stored(accountId, id)?.webhook);
    this.entries.delete(id);
  }

  async findOwner(id: WebhookId): Promise<AccountId | undefined> {
    return this.entries.get(id)?.webhook.accountId;
  }

  async listAll({ accountId, ...part }: WebhookQuery): Promise<readonly AccountWebhook[]> {
    return this.part(part, accountId).flatMap(({ webhook, failingSince }) => {
      const account = this.accounts.stored(webhook.accountId)?.account;
      return account === undefined ? [] : [{ account, webhook, failingSince, recoveringSince: undefined }];
    });
  }

  async reencrypt(part: WebhookPart, now: Instant): Promise<ReencryptedPart> {
    const entries = this.part(part);
    for (const entry of entries) {
      const secrets = { ...entry.secrets, past: stillSigning(entry.secrets.past, now) };
      this.entries.set(entry.webhook.id, { ...entry, secrets });
    }
    return { last: entries.at(-1)?.webhook.id, unreadable: [] };
  }

  async countSecrets(): Promise<SecretCounts> {
    return { first: this.entries.size, older: 0, unknown: 0 };
  }

  deleteOfAccount(accountId: AccountId): void {
    for (const { webhook } of this.of(accountId)) this.entries.delete(webhook.id);
  }

  private stored(accountId: AccountId, id: WebhookId): Entry | undefined {
    return this.of(accountId).find(({ webhook }) => webhook.id === id);
  }

  private of(accountId: AccountId): readonly Entry[] {
    return [...this.entries.values()].filter(({ webhook }) => webhook.accountId === accountId);
  }

  private part({ after = '' as WebhookId, limit }: WebhookPart, accountId?: AccountId): readonly Entry[] {
    return (accountId === undefined ? [...this.entries.values()] : this.of(accountId))
      .filter(({ webhook }) => webhook.id > after)
      .sort((one, other) => (one.webhook.id < other.webhook.id ? -1 : 1))
      .slice(0, limit);
  }
}
