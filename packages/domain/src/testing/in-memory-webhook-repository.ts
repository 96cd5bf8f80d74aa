import type { AccountId } from '../accounts/account.js';
import type { AccountRequest, Authority } from '../accounts/authority.js';
import { type Clock, type Instant, instant } from '../kernel/clock.js';
import type { Transaction } from '../kernel/transaction.js';
import type { Receiver } from '../webhooks/delivery.js';
import type {
  OwnWebhook,
  StoredWebhook,
  Webhook,
  WebhookCommand,
  WebhookHolder,
  WebhookId,
  WebhookState,
} from '../webhooks/webhook.js';
import type { WebhookRepository } from '../webhooks/webhook-repository.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import type { InMemoryApiKeyRepository } from './in-memory-api-key-repository.js';

interface Entry extends Pick<Receiver, 'failedTurns' | 'failingSince'> {
  readonly webhook: StoredWebhook;
  readonly turns: number;
  readonly turnAt: Instant;
  /** The end of the lease of its turn. */
  readonly busyUntil: Instant;
}

export class InMemoryWebhookRepository implements WebhookRepository {
  readonly entries = new Map<WebhookId, Entry>();

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly keys: InMemoryApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  async add(request: AccountRequest, decide: (state: WebhookHolder) => StoredWebhook): Promise<Webhook> {
    const webhook = decide({ ...this.authorityOf(request), webhooks: this.of(request.accountId).length });
    const [turnAt, busyUntil] = [instant(0), instant(0)];
    this.entries.set(webhook.id, { webhook, turns: 0, turnAt, busyUntil, failedTurns: 0, failingSince: undefined });
    return shown(webhook);
  }

  async findById(accountId: AccountId, id: WebhookId): Promise<Webhook | undefined> {
    const stored = this.stored({ accountId, id });
    return stored && shown(stored);
  }

  async list(accountId: AccountId): Promise<readonly Webhook[]> {
    return this.of(accountId).map(shown);
  }

  async change(
    command: WebhookCommand,
    decide: (state: WebhookState<StoredWebhook>) => StoredWebhook,
  ): Promise<Webhook> {
    const stored = this.stored(command);
    const webhook = decide({ ...this.authorityOf(command), webhook: stored });
    const entry = this.entries.get(webhook.id);
    if (stored === undefined || entry === undefined) throw new Error('it was decided on nothing');
    const isAnew = webhook.url !== stored.url || webhook.status !== stored.status;
    const turnAt = instant(Math.max(entry.busyUntil, this.clock.now()));
    const anew = { turnAt, failedTurns: 0, failingSince: undefined };
    this.entries.set(webhook.id, { ...entry, webhook, ...(isAnew ? anew : {}) });
    return shown(webhook);
  }

  async remove(command: WebhookCommand, decide: (state: WebhookState) => void): Promise<void> {
    decide(this.stateOf(command));
    this.entries.delete(command.id as WebhookId);
  }

  async lock<Result>(
    command: WebhookCommand,
    work: (state: WebhookState, transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    return work(this.stateOf(command), {} as Transaction);
  }

  deleteOfAccount(accountId: AccountId): void {
    for (const { id } of this.of(accountId)) this.entries.delete(id);
  }

  private stateOf(command: WebhookCommand): WebhookState {
    const stored = this.stored(command);
    return { ...this.authorityOf(command), webhook: stored && shown(stored) };
  }

  private authorityOf({ accountId, actor }: AccountRequest): Authority {
    const isKey = typeof actor === 'object' && 'keyId' in actor;
    const key = isKey ? this.keys.stored(actor.keyId) : undefined;
    return {
      account: this.accounts.stored(accountId)?.account,
      key: key?.accountId === accountId ? key : undefined,
    };
  }

  private stored({ accountId, id }: OwnWebhook): StoredWebhook | undefined {
    return this.of(accountId).find((webhook) => webhook.id === id);
  }

  private of(accountId: AccountId): readonly StoredWebhook[] {
    return [...this.entries.values()].map(({ webhook }) => webhook).filter((each) => each.accountId === accountId);
  }
}

function shown({ secrets, ...webhook }: StoredWebhook): Webhook {
  return webhook;
}
