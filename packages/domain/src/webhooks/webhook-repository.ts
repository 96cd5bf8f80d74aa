import type { Account, AccountId } from '../accounts/account.js';
import type { AccountRequest } from '../accounts/keys/authority.js';
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
  WebhookWithFailures,
} from './webhook.js';

/** A part of the webhooks, which are sorted by their ids. */
export interface WebhookPart {
  /** The part begins after that webhook. */
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
  readonly failingSince: WebhookWithFailures['failingSince'];
}

export interface ReencryptedPart {
  /** The last webhook of the part. Undefined if there is none. */
  readonly last: WebhookId | undefined;
  /** Those whose current secret can't be decrypted. */
  readonly unreadable: readonly Pick<Webhook, 'id' | 'status'>[];
}

/** Webhooks by the keys with which their secrets are encrypted, including replaced secrets that still sign. */
export interface SecretCounts {
  readonly first: number;
  /** At least one with another key of this process. */
  readonly older: number;
  /** At least one with a key that this process lacks, or that isn't recorded yet. */
  readonly unknown: number;
}

/**
 * Port: the webhooks of open accounts. They are deleted when the account is closed, or when its keys are revoked
 * because a stranger may have made them. Each method is atomic. If `decide` throws, nothing changes. The secrets are
 * stored encrypted: the first key of the process encrypts, all its keys decrypt.
 *
 * The state that `decide` gets is locked until the result is stored, in this order: the account, the actor's key, the
 * webhook. So no other webhook of the account is added meanwhile, and the actor's key isn't revoked.
 */
export interface WebhookRepository {
  /** Stores the webhook that `decide` returns. */
  add(request: AccountRequest, decide: (state: WebhookHolder) => NewWebhook): Promise<Webhook>;
  findById(accountId: AccountId, id: WebhookId): Promise<WebhookWithFailures | undefined>;
  /** All webhooks of the account, the oldest first. */
  list(accountId: AccountId): Promise<readonly WebhookWithFailures[]>;
  /**
   * Stores the webhook that `decide` returns. If its URL or status changes, earlier failures no longer count, and its
   * next round is due at once, or when the current one has ended. One that gets enabled receives no event that happened
   * while it was disabled.
   */
  change(command: WebhookCommand, decide: (state: WebhookState) => Webhook): Promise<Webhook>;
  /**
   * Gives the webhook the secret that `decide` returns. The replaced secret isn't read, so this works even if it can't
   * be decrypted.
   */
  rotate(command: WebhookCommand, decide: (state: SecretRotationState) => SecretRotation): Promise<Webhook>;
  /** Deletes the webhook and its secrets, unless `decide` throws. Nothing more is sent to it. */
  delete(command: WebhookCommand, decide: (state: WebhookState) => void): Promise<void>;
  /** Runs `work` in a transaction that locks the same rows. If `work` throws, the transaction changes nothing. */
  lock<Result>(
    command: WebhookCommand,
    work: (state: WebhookState, transaction: Transaction) => Promise<Result>,
    transaction?: Transaction,
  ): Promise<Result>;
  /** The account that owns the webhook. */
  findOwner(id: WebhookId): Promise<AccountId | undefined>;
  /** Webhooks of all accounts, or of one. */
  listAll(query: WebhookQuery): Promise<readonly AccountWebhook[]>;
  /**
   * Encrypts the secrets of the next webhooks with the first key, and deletes those that no longer sign at that
   * instant. Those that can't be decrypted stay as they are. A secret that is replaced meanwhile isn't changed.
   */
  reencrypt(part: WebhookPart, now: Instant): Promise<ReencryptedPart>;
  countSecrets(): Promise<SecretCounts>;
}
