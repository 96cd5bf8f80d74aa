import type { AccountId } from '../accounts/account.js';
import type { AccountRequest } from '../accounts/authority.js';
import type { Transaction } from '../kernel/transaction.js';
import type { StoredWebhook, Webhook, WebhookCommand, WebhookHolder, WebhookId, WebhookState } from './webhook.js';

/**
 * Port: the webhooks of open accounts, which are deleted when an account is closed, or its keys are revoked because a
 * stranger may have made them. Each method is atomic. If `decide` throws, nothing changes. The secrets are encrypted where
 * they are stored.
 *
 * What `decide` gets is locked until its outcome is stored, in this order: the account, the actor's key, the webhook. So
 * no other webhook of the account is added meanwhile, and nobody takes the actor's authority away.
 */
export interface WebhookRepository {
  /** Stores the webhook that `decide` returns. */
  add(request: AccountRequest, decide: (state: WebhookHolder) => StoredWebhook): Promise<Webhook>;
  findById(accountId: AccountId, id: WebhookId): Promise<Webhook | undefined>;
  /** All webhooks of the account, the oldest first. */
  list(accountId: AccountId): Promise<readonly Webhook[]>;
  /**
   * Stores what `decide` returns. If its address or status changes, its next turn is due once the one under way has ended, and
   * earlier failures no longer count. One that is enabled gets what happens from then on, and what it had not been sent when
   * it was disabled.
   */
  change(command: WebhookCommand, decide: (state: WebhookState<StoredWebhook>) => StoredWebhook): Promise<Webhook>;
  /** Deletes the webhook and its secrets, unless `decide` throws. Nothing more is sent to it, except in a turn under way. */
  remove(command: WebhookCommand, decide: (state: WebhookState) => void): Promise<void>;
  /** Runs `work` in a transaction in which the same is locked. If it throws, nothing of what it did in that is stored. */
  lock<Result>(
    command: WebhookCommand,
    work: (state: WebhookState, transaction: Transaction) => Promise<Result>,
    transaction?: Transaction,
  ): Promise<Result>;
}
