import type { AccountId } from '../accounts/account.js';
import type { AccountRequest, Authority } from '../accounts/keys/authority.js';
import { type Clock, type Instant, instant, later } from '../kernel/clock.js';
import type { Transaction } from '../kernel/transaction.js';
import type { Receiver } from '../webhooks/delivery.js';
import { decideSwitch, type Follower, NEVER } from '../webhooks/follower.js';
import type {
  NewWebhook,
  OwnWebhook,
  SecretRotation,
  SecretRotationState,
  Webhook,
  WebhookCommand,
  WebhookHolder,
  WebhookId,
  WebhookState,
  WebhookWithFailures,
} from '../webhooks/webhook.js';
import { stillSigning, type WebhookSecrets } from '../webhooks/webhook-secrets.js';
import type {
  AccountWebhook,
  ReencryptedPart,
  SecretCounts,
  WebhookPart,
  WebhookQuery,
  WebhookRepository,
} from '../webhooks/webhook-repository.js';
import type { InMemoryAccountRepository } from './in-memory-account-repository.js';
import type { InMemoryApiKeyRepository } from './in-memory-api-key-repository.js';
import type { InMemoryEventFeed } from './in-memory-event-feed.js';
import { remember } from './in-memory-idempotency-records.js';

/** A webhook with the state of its rounds, as the columns of its row. */
export interface WebhookEntry extends Follower, Pick<Receiver, 'failedRounds' | 'failingSince' | 'attemptedAt'> {
  readonly webhook: Webhook;
  readonly secrets: WebhookSecrets;
  readonly rounds: number;
  readonly roundAt: Instant;
  readonly busyUntil: Instant;
  readonly pausedUntil: Instant;
  /** Milliseconds that its last round took. */
  readonly took: number | undefined;
}

const AT_ONCE = instant(0);

export class InMemoryWebhookRepository implements WebhookRepository {
  readonly entries = new Map<WebhookId, WebhookEntry>();
  /** Webhooks whose deliveries are still to be deleted. */
  readonly deleted = new Set<WebhookId>();

  /** Each saves a part of what a transaction may change, and returns a function that restores it. */
  readonly memories: (() => () => void)[] = [() => remember(this.entries)];

  constructor(
    private readonly accounts: InMemoryAccountRepository,
    private readonly keys: InMemoryApiKeyRepository,
    private readonly events: InMemoryEventFeed,
    private readonly clock: Clock,
  ) {}

  async add(request: AccountRequest, decide: (state: WebhookHolder) => NewWebhook): Promise<Webhook> {
    const state = { ...this.authorityOf(request), webhooks: this.of(request.accountId).length };
    const { secret, ...webhook } = decide(state);
    this.entries.set(webhook.id, {
      webhook,
      secrets: { current: secret, past: [] },
      rounds: 0,
      roundAt: NEVER,
      busyUntil: AT_ONCE,
      pausedUntil: AT_ONCE,
      took: undefined,
      failedRounds: 0,
      failingSince: undefined,
      attemptedAt: undefined,
      position: this.events.last,
      followsSince: this.clock.now(),
      recovery: undefined,
    });
    return webhook;
  }

  async findById(accountId: AccountId, id: WebhookId): Promise<WebhookWithFailures | undefined> {
    const entry = this.stored({ accountId, id });
    return entry && withFailures(entry);
  }

  async list(accountId: AccountId): Promise<readonly WebhookWithFailures[]> {
    return this.of(accountId).map(withFailures);
  }

  async change(command: WebhookCommand, decide: (state: WebhookState) => Webhook): Promise<Webhook> {
    const entry = this.stored(command);
    const webhook = decide(this.stateOf(command));
    if (entry === undefined) throw new Error('it was decided on nothing');
    const { id } = webhook;
    const { url, status } = entry.webhook;
    const isAnew = webhook.url !== url || webhook.status !== status;
    this.entries.set(id, { ...entry, webhook, ...(isAnew && { failedRounds: 0, failingSince: undefined }) });
    if (isAnew) this.wake(id);
    this.switch(entry, webhook.status);
    return webhook;
  }

  async rotate(command: WebhookCommand, decide: (state: SecretRotationState) => SecretRotation): Promise<Webhook> {
    const entry = this.stored(command);
    const ends = entry?.secrets.past.map(({ until: end }) => ({ until: end })) ?? [];
    const { webhook, secret, until } = decide({ ...this.stateOf(command), past: ends });
    if (entry === undefined) throw new Error('it was decided on nothing');
    const { current, past } = entry.secrets;
    const signing = stillSigning(past, webhook.updatedAt);
    const secrets = { current: secret, past: [{ secret: current, until }, ...signing] };
    this.entries.set(webhook.id, { ...entry, webhook, secrets });
    return webhook;
  }

  async delete(command: WebhookCommand, decide: (state: WebhookState) => void): Promise<void> {
    decide(this.stateOf(command));
    this.forget(command.id as WebhookId);
  }

  async lock<Result>(
    command: WebhookCommand,
    work: (state: WebhookState, transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const putBack = this.remember();
    try {
      return await work(this.stateOf(command), {} as Transaction);
    } catch (error) {
      putBack();
      throw error;
    }
  }

  remember(): () => void {
    const restoring = this.memories.map((each) => each());
    return () => {
      for (const restore of restoring) restore();
    };
  }

  async findOwner(id: WebhookId): Promise<AccountId | undefined> {
    return this.entries.get(id)?.webhook.accountId;
  }

  async listAll({ accountId, ...part }: WebhookQuery): Promise<readonly AccountWebhook[]> {
    return this.part(part, accountId).flatMap(({ webhook, failingSince }) => {
      const account = this.accounts.stored(webhook.accountId)?.account;
      return account === undefined ? [] : [{ account, webhook, failingSince }];
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
    for (const { webhook } of this.of(accountId)) this.forget(webhook.id);
  }

  private forget(id: WebhookId): void {
    this.entries.delete(id);
    this.deleted.add(id);
  }

  set(id: WebhookId, change: Partial<WebhookEntry>): void {
    const entry = this.entries.get(id);
    if (entry !== undefined) this.entries.set(id, { ...entry, ...change });
  }

  /** Makes the next round due now, or as soon as the current one has ended. */
  wake(id: WebhookId): void {
    const entry = this.entries.get(id);
    const roundAt = later(this.clock.now(), Math.max(0, (entry?.busyUntil ?? 0) - this.clock.now()));
    this.set(id, { pausedUntil: AT_ONCE, roundAt });
  }

  /** Called when the webhook is stored with that status. */
  switch(before: WebhookEntry, status: Webhook['status']): void {
    if (status === before.webhook.status) return;
    this.set(before.webhook.id, decideSwitch(before, status, { end: this.events.last, now: this.clock.now() }));
  }

  /** Stores since when the owner wants events to be sent again. */
  wish(id: WebhookId, recoveringSince: Instant | undefined): void {
    const entry = this.entries.get(id);
    if (entry !== undefined) this.set(id, { webhook: { ...entry.webhook, recoveringSince } });
  }

  private stateOf(command: WebhookCommand): WebhookState {
    return { ...this.authorityOf(command), webhook: this.stored(command)?.webhook };
  }

  private authorityOf({ accountId, actor }: AccountRequest): Authority {
    const account = this.accounts.stored(accountId)?.account;
    const isKey = typeof actor === 'object' && 'keyId' in actor;
    const key = isKey ? this.keys.stored(actor.keyId) : undefined;
    return { account, key: key?.accountId === accountId ? key : undefined };
  }

  private stored({ accountId, id }: OwnWebhook): WebhookEntry | undefined {
    return this.of(accountId).find(({ webhook }) => webhook.id === id);
  }

  private of(accountId: AccountId): readonly WebhookEntry[] {
    return [...this.entries.values()].filter(({ webhook }) => webhook.accountId === accountId);
  }

  private part({ after = '' as WebhookId, limit }: WebhookPart, accountId?: AccountId): readonly WebhookEntry[] {
    return (accountId === undefined ? [...this.entries.values()] : this.of(accountId))
      .filter(({ webhook }) => webhook.id > after)
      .sort((one, other) => (one.webhook.id < other.webhook.id ? -1 : 1))
      .slice(0, limit);
  }
}

function withFailures({ webhook, failingSince }: WebhookEntry): WebhookWithFailures {
  return { ...webhook, failingSince };
}
