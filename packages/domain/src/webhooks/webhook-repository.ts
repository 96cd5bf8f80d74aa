import type { Account, AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import type { Transaction } from '../kernel/transaction.js';
import type { NewWebhook, SecretRotationState, SecretRotation, Webhook, WebhookHolder, WebhookId } from './webhook.js';

/** Webhooks are in the order of their ids. */
export interface WebhookPart {
  /** The part begins behind that webhook. */
  readonly after?: WebhookId | undefined;
  readonly limit: number;
}

export interface WebhookQuery extends WebhookPart {
  readonly accountId?: AccountId | undefined;
}

/** A webhook as an operator sees it. */
export interface AccountWebhook {
  readonly account: Account;
  readonly webhook: Webhook;
  /** The first failed attempt since the last successful one. */
  readonly failingSince: Instant | undefined;
  /** Since when its owner wants events again, until all of them are queued. */
  readonly recoveringSince: Instant | undefined;
}

export interface ReencryptedPart {
  /** The last webhook of the part. Undefined if there is none. */
  readonly last: WebhookId | undefined;
  /** Those whose current secret can't be decrypted. */
  readonly unreadable: readonly Pick<Webhook, 'id' | 'status'>[];
}

/** How many webhooks have their secrets, past ones included, encrypted with which keys of this process. */
export interface SecretCounts {
  readonly first: number;
  /** With another key of this process. */
  readonly older: number;
  /** With a key that this process lacks, or nobody has looked yet. */
  readonly unknown: number;
}

/**
 * Port: the webhooks of open accounts, which are deleted when an account is closed, or its keys are revoked because a
 * stranger may have made them. Each method is atomic. If `decide` throws, nothing changes. The secrets are encrypted where
 * they are stored: the first key of the process encrypts, all its keys decrypt.
 */
export interface WebhookRepository {
  /** Stores the webhook that `decide` returns. The account is locked, so no other webhook of it is added meanwhile. */
  add(accountId: AccountId, decide: (state: WebhookHolder) => NewWebhook): Promise<Webhook>;
  findById(accountId: AccountId, id: WebhookId, transaction?: Transaction): Promise<Webhook | undefined>;
  /** All webhooks of the account, the oldest first. */
  list(accountId: AccountId): Promise<readonly Webhook[]>;
  /**
   * Stores what `decide` returns. The webhook is locked. If its address or status changes, its next turn is due at once, and
   * earlier failures no longer count.
   */
  change(accountId: AccountId, id: WebhookId, decide: (webhook: Webhook | undefined) => Webhook): Promise<Webhook>;
  /**
   * Gives the webhook the secret that `decide` returns. The webhook is locked. The secret that is replaced isn't read, so it
   * may be one that can't be decrypted.
   */
  rotate(
    accountId: AccountId,
    id: WebhookId,
    decide: (state: SecretRotationState | undefined) => SecretRotation,
  ): Promise<Webhook>;
  /** Deletes the webhook and its secrets, unless `decide` throws. Nothing more is sent to it. The webhook is locked. */
  remove(accountId: AccountId, id: WebhookId, decide: (webhook: Webhook | undefined) => void): Promise<void>;
  /** The account whose webhook it is. */
  findOwner(id: WebhookId): Promise<AccountId | undefined>;
  /** Webhooks of all accounts, or of one. */
  listAll(query: WebhookQuery): Promise<readonly AccountWebhook[]>;
  /**
   * Encrypts the secrets of the next webhooks with the first key, and forgets those that no longer sign at that instant. What
   * can't be decrypted stays. A secret that is replaced meanwhile isn't touched.
   */
  reencrypt(part: WebhookPart, now: Instant): Promise<ReencryptedPart>;
  countSecrets(): Promise<SecretCounts>;
}
