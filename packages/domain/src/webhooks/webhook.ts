import type { AccountId } from '../accounts/account.js';
import { type AccountRequest, type Authority, requireAuthority } from '../accounts/keys/authority.js';
import type { Scope } from '../accounts/scope.js';
import type { EventType } from '../events/event.js';
import { randomBase62 } from '../kernel/base62.js';
import type { Branded } from '../kernel/branded.js';
import { DAY, type Instant, instant, later } from '../kernel/clock.js';
import type { Condition } from '../kernel/condition.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { DomainError, errorCodes, kernelErrors, ours, ourText } from '../kernel/errors.js';
import { type SecretEnd, stillSigning } from './webhook-secrets.js';

export const webhookErrors = errorCodes({
  too_many_webhooks: 'conflict',
  too_many_pings: 'conflict',
  too_many_secrets: 'conflict',
  webhook_disabled: 'conflict',
});

/** `whk_` and 24 base62 characters. */
export type WebhookId = Branded<string, 'WebhookId'>;

export const WEBHOOK_STATUSES = ['enabled', 'disabled'] as const;
/** Nothing is sent to a `disabled` one. Events that happen meanwhile are delivered only if the owner recovers them. */
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/** Where an account's events are sent. */
export interface Webhook {
  readonly id: WebhookId;
  readonly accountId: AccountId;
  readonly url: string;
  /** Undefined: all types, also those that are added later. */
  readonly types: readonly EventType[] | undefined;
  readonly description: string | undefined;
  readonly status: WebhookStatus;
  /** The owner has asked to send the events since then again. Undefined if not, and once all are queued. */
  readonly recoveringSince: Instant | undefined;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** A webhook as its owner sees it. */
export interface WebhookWithFailures extends Webhook {
  /** The first failed attempt since the last successful one. */
  readonly failingSince: Instant | undefined;
}

/** `failing`: nothing that was attempted since its last success was delivered, and it isn't disabled yet. */
export type WebhookHealth = WebhookStatus | 'failing';

export function webhookHealth({
  status,
  failingSince,
}: Pick<WebhookWithFailures, 'status' | 'failingSince'>): WebhookHealth {
  return status === 'enabled' && failingSince !== undefined ? 'failing' : status;
}

/** What an owner decides. */
export type WebhookFields = Pick<Webhook, 'url' | 'types' | 'description' | 'status'>;

/** A webhook with its first secret: `whsec_` and the base64 of 32 bytes. */
export interface NewWebhook extends Webhook {
  readonly secret: string;
}

export interface SecretRotation {
  readonly webhook: Webhook;
  readonly secret: string;
  /** The replaced secret signs until then. */
  readonly until: Instant;
}

/** The scopes that every operation on a webhook needs. */
const MANAGING_SCOPES: readonly Scope[] = ['webhooks:write'];

/** Nothing is sent to the webhooks of an account that lacks one of these scopes, and it can't request a delivery. */
export const DELIVERY_SCOPES: readonly Scope[] = ['events:read', ...MANAGING_SCOPES];

export const MOST_WEBHOOKS = 10;
/** The most pings of a webhook that may be queued. */
export const MOST_PINGS = 20;
/** How long a secret signs after it was replaced. */
export const SECRET_OVERLAP = DAY;
/** Secrets of a webhook that sign at the same time. */
export const MOST_SECRETS = 5;

/** A webhook by its id, which must be of that account. */
export interface OwnWebhook {
  readonly accountId: AccountId;
  readonly id: string;
}

export interface WebhookCommand extends OwnWebhook, AccountRequest {
  readonly condition?: Condition<Webhook> | undefined;
}

export interface WebhookEdit extends WebhookCommand {
  readonly change: Partial<WebhookFields>;
}

/** The stored state of an account that will get a webhook, and of the actor. */
export interface WebhookHolder extends Authority {
  /** The number of its webhooks. */
  readonly webhooks: number;
}

/** The stored state of a webhook that will be changed, and of the actor. */
export interface WebhookState extends Authority {
  /** Undefined if the account has no such webhook. */
  readonly webhook: Webhook | undefined;
}

/** A rotation needs no secret, only the times at which the replaced ones end. */
export interface SecretRotationState extends WebhookState {
  /** The end of each secret that was replaced earlier. */
  readonly past: readonly SecretEnd[];
}

export interface WebhookCreation extends Pick<AccountRequest, 'actor'> {
  readonly webhook: NewWebhook;
}

/** @throws as `requireAuthority`; DomainError `not_found` if the account isn't there, or `too_many_webhooks`. */
export function decideCreation(state: WebhookHolder, command: WebhookCreation, now: Instant): NewWebhook {
  const { actor, webhook } = command;
  requireAuthority(actor, state, DELIVERY_SCOPES, now);
  if (state.account === undefined)
    throw new DomainError(kernelErrors.not_found, ours`no account has the id ${webhook.accountId}`);
  requireRoom(state.webhooks);
  return webhook;
}

/** @throws DomainError `too_many_webhooks` */
export function requireRoom(webhooks: number): void {
  if (webhooks >= MOST_WEBHOOKS) throw tooManyWebhooks();
}

/**
 * The webhook after its owner's change. The same object if nothing changes.
 *
 * @throws as `requireOwn`
 */
export function decideWebhookChange(state: WebhookState, edit: WebhookEdit, now: Instant): Webhook {
  const scopes = isOnlyDisabling(edit.change) ? MANAGING_SCOPES : DELIVERY_SCOPES;
  const webhook = requireOwn(state, edit, scopes, now);
  const changed = { ...webhook, ...edit.change };
  const isSame = (['url', 'types', 'description', 'status'] as const).every(
    (field) => JSON.stringify(changed[field]) === JSON.stringify(webhook[field]),
  );
  return isSame ? webhook : { ...changed, updatedAt: now };
}

/**
 * The webhook and its new secret. For a day the replaced one signs, too.
 *
 * @throws as `requireOwn`; DomainError `too_many_secrets` if too many would sign.
 */
export function decideSecretRotation(
  state: SecretRotationState,
  { secret, ...command }: WebhookCommand & { readonly secret: string },
  now: Instant,
): SecretRotation {
  const webhook = requireOwn(state, command, MANAGING_SCOPES, now);
  const ends = stillSigning(state.past, now).map(({ until }) => until);
  // Two more will sign: the new secret, and the one that it replaces.
  if (ends.length + 2 > MOST_SECRETS) throw tooManySecrets(instant(Math.min(...ends)));
  return { webhook: { ...webhook, updatedAt: now }, secret, until: later(now, SECRET_OVERLAP) };
}

/** @throws as `requireOwn` */
export function decideWebhookDeletion(state: WebhookState, command: WebhookCommand, now: Instant): void {
  requireOwn(state, command, MANAGING_SCOPES, now);
}

/** The webhook, if it may be pinged. @throws as `requireEnabled` */
export function decidePing(state: WebhookState, command: WebhookCommand, now: Instant): Webhook {
  return requireEnabled(state, command, MANAGING_SCOPES, now);
}

/** The webhook, if its deliveries may be queued again. @throws as `requireEnabled` */
export function decideDeliveryRetry(state: WebhookState, command: WebhookCommand, now: Instant): Webhook {
  return requireEnabled(state, command, DELIVERY_SCOPES, now);
}

export interface RecoveryCommand extends WebhookCommand {
  readonly since: Instant;
}

/**
 * The webhook with the request to send the events since an instant again. If an earlier request isn't finished, the
 * earlier instant of the two is kept.
 *
 * @throws as `requireEnabled`
 */
export function decideRecovery(
  state: WebhookState,
  { since, ...command }: RecoveryCommand,
  now: Instant,
): Webhook & { readonly recoveringSince: Instant } {
  const webhook = requireEnabled(state, command, DELIVERY_SCOPES, now);
  const { recoveringSince = since } = webhook;
  return { ...webhook, recoveringSince: instant(Math.min(recoveringSince, since)) };
}

function isOnlyDisabling(change: Partial<WebhookFields>): boolean {
  return change.status === 'disabled' && Object.keys(change).length === 1;
}

/** @throws DomainError `not_found` */
export function requireWebhook<Found extends Webhook>(webhook: Found | undefined): Found {
  if (webhook === undefined)
    throw new DomainError(kernelErrors.not_found, ours`no webhook of this account has that id`);
  return webhook;
}

/** @throws as `requireAuthority`; DomainError `not_found` or `precondition_failed` */
function requireOwn(
  state: WebhookState,
  { actor, condition }: WebhookCommand,
  scopes: readonly Scope[],
  now: Instant,
): Webhook {
  requireAuthority(actor, state, scopes, now);
  const webhook = requireWebhook(state.webhook);
  condition?.(webhook);
  return webhook;
}

/** @throws as `requireOwn`; DomainError `webhook_disabled`, because nothing would be sent. */
function requireEnabled(state: WebhookState, command: WebhookCommand, scopes: readonly Scope[], now: Instant): Webhook {
  const webhook = requireOwn(state, command, scopes, now);
  if (webhook.status === 'enabled') return webhook;
  throw webhookDisabled();
}

export function tooManyWebhooks(): DomainError {
  return new DomainError(
    webhookErrors.too_many_webhooks,
    ours`the account has ${MOST_WEBHOOKS} webhooks, which is the most`,
  );
}

export function tooManyPings(): DomainError {
  return new DomainError(
    webhookErrors.too_many_pings,
    ours`${MOST_PINGS} pings of the webhook wait to be sent, which is the most`,
  );
}

export function webhookDisabled(): DomainError {
  return new DomainError(webhookErrors.webhook_disabled, ours`the webhook is disabled; enable it first`);
}

/** @param end when the first of them ends. */
export function tooManySecrets(end: Instant): DomainError {
  const from = new Date(end).toISOString();
  return new DomainError(
    webhookErrors.too_many_secrets,
    ours`${MOST_SECRETS} secrets of the webhook sign, which is the most; it can get another one from ${ourText(from)} on`,
  );
}

export function newWebhookId(cryptography: Cryptography): WebhookId {
  return `whk_${randomBase62(24, cryptography)}` as WebhookId;
}
