import type { Account, AccountId } from '../accounts/account.js';
import type { AccountRequest } from '../accounts/authority.js';
import type { Instant } from '../kernel/clock.js';
import type { Transaction } from '../kernel/transaction.js';
import type {
  NewWebhook,
  SecretRotation,
  SecretRotationState,
  Webhook,
  WebhookCommand,
  WebhookHolder,
  WebhookId,
  WebhookState,
} from './webhook.js';

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
 *
 * What `decide` gets is locked until its outcome is stored, in this order: the account, the actor's key, the webhook. So
 * no other webhook of the account is added meanwhile, and nobody takes the actor's authority away.
 */
export interface WebhookRepository {
  /** Stores the webhook that `decide` returns. */
  add(request: AccountRequest, decide: (state: WebhookHolder) => NewWebhook): Promise<Webhook>;
  findById(accountId: AccountId, id: WebhookId): Promise<Webhook | undefined>;
  /** All webhooks of the account, the oldest first. */
  list(accountId: AccountId): Promise<readonly Webhook[]>;
  /**
   * Stores what `decide` returns. If its address or status changes, its next turn is due once the open one has ended, and
   * earlier failures no longer count. One that is enabled gets no event from while it was disabled.
   */
  change(command: WebhookCommand, decide: (state: WebhookState) => Webhook): Promise<Webhook>;
  /**
   * Gives the webhook the secret that `decide` returns. The secret that is replaced isn't read, so it may be one that can't
   * be decrypted.
   */
  rotate(command: WebhookCommand, decide: (state: SecretRotationState) => SecretRotation): Promise<Webhook>;
  /** Deletes the webhook and its secrets, unless `decide` throws. Nothing more is sent to it. */
  remove(command: WebhookCommand, decide: (state: WebhookState) => void): Promise<void>;
  /** Runs `work` in a transaction in which the same is locked. If it throws, nothing of what it did in that is stored. */
  lock<Result>(
    command: WebhookCommand,
    work: (state: WebhookState, transaction: Transaction) => Promise<Result>,
    transaction?: Transaction,
  ): Promise<Result>;
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
