import type { AccountId } from '../accounts/account.js';
import type { Transaction } from '../kernel/transaction.js';
import type { StoredWebhook, Webhook, WebhookHolder, WebhookId } from './webhook.js';

/**
 * Port: the webhooks of open accounts, which are deleted when an account is closed, or its keys are revoked because a
 * stranger may have made them. Each method is atomic. If `decide` throws, nothing changes. The secrets are encrypted where
 * they are stored.
 */
export interface WebhookRepository {
  /** Stores the webhook that `decide` returns. The account is locked, so no other webhook of it is added meanwhile. */
  add(accountId: AccountId, decide: (state: WebhookHolder) => StoredWebhook): Promise<Webhook>;
  findById(accountId: AccountId, id: WebhookId, transaction?: Transaction): Promise<Webhook | undefined>;
  /** All webhooks of the account, the oldest first. */
  list(accountId: AccountId): Promise<readonly Webhook[]>;
  /**
   * Stores what `decide` returns. The webhook is locked. If its address or status changes, its next turn is due at once, and
   * earlier failures no longer count.
   */
  change(
    accountId: AccountId,
    id: WebhookId,
    decide: (webhook: StoredWebhook | undefined) => StoredWebhook,
  ): Promise<Webhook>;
  /** Deletes the webhook and its secrets, unless `decide` throws. Nothing more is sent to it. The webhook is locked. */
  remove(accountId: AccountId, id: WebhookId, decide: (webhook: Webhook | undefined) => void): Promise<void>;
}
