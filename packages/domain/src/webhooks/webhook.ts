import type { AccountId } from '../accounts/account.js';
import { type AccountRequest, type Authority, requireAuthority } from '../accounts/keys/authority.js';
import type { Scope } from '../accounts/scope.js';
import { EVENT_TYPES, type EventType } from '../events/event.js';
import { randomBase62 } from '../kernel/base62.js';
import type { Branded } from '../kernel/branded.js';
import { DAY, type Instant, instant, later } from '../kernel/clock.js';
import type { Condition } from '../kernel/condition.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { checkAll, DomainError, errorCodes, invalid, kernelErrors } from '../kernel/errors.js';
import { hasAtMostCodePoints, isStorable } from '../kernel/text.js';

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

/** A webhook with its first secret: `whsec_` and the base64 of 32 bytes. */
export interface NewWebhook extends Webhook {
  readonly secret: string;
}

/** A secret that was replaced. It signs until it ends. */
export interface PastSecret {
  readonly secret: string;
  readonly until: Instant;
}

/** The secrets of a webhook. Only its deliveries read them. */
export interface WebhookSecrets {
  readonly current: string;
  /** The secrets that were replaced, the latest first. */
  readonly past: readonly PastSecret[];
}

type End = Pick<PastSecret, 'until'>;

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
export const MAX_URL_LENGTH = 2_048;
export const MAX_DESCRIPTION_LENGTH = 255;
/** How long a secret signs after it was replaced. */
export const SECRET_OVERLAP = DAY;
/** Secrets of a webhook that sign at the same time. */
export const MOST_SECRETS = 5;

export interface WebhookInput {
  readonly url: string;
  /** Default: all. */
  readonly types?: readonly string[] | undefined;
  readonly description?: string | undefined;
}

/** Null removes the value. */
export interface WebhookChangeInput {
  readonly url?: string | undefined;
  readonly types?: readonly string[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly status?: WebhookStatus | undefined;
}

export type WebhookFields = Pick<Webhook, 'url' | 'types' | 'description' | 'status'>;

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

/** @throws DomainError `invalid_parameter`, naming each field and its rule. */
export function webhookFields(input: WebhookInput): WebhookFields {
  const { url, description } = input;
  const checked = check(input);
  return { url, types: checked.types, description, status: 'enabled' };
}

/**
 * Validates a change, which must have at least one field.
 *
 * @throws DomainError `invalid_parameter`, naming each field and its rule.
 */
export function webhookChange(input: WebhookChangeInput): Partial<WebhookFields> {
  const { url, types, description, status } = input;
  if ([url, types, description, status].every((each) => each === undefined)) {
    throw invalid('the body', 'must have at least one of url, types, description and status');
  }
  const checked = check(input);
  return {
    ...(url !== undefined && { url }),
    ...(types !== undefined && { types: checked.types }),
    ...(description !== undefined && { description: description ?? undefined }),
    ...(status !== undefined && { status }),
  };
}

/**
 * Checks the length of a URL in the form that `WebhookSender.check` returned, and returns it.
 *
 * @throws DomainError `invalid_parameter`
 */
export function webhookUrl(written: string): string {
  requireLength('url', written, MAX_URL_LENGTH);
  return written;
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
  readonly past: readonly End[];
}

export interface WebhookCreation extends Pick<AccountRequest, 'actor'> {
  readonly webhook: NewWebhook;
}

/** @throws as `requireAuthority`; DomainError `not_found` if the account isn't there, or `too_many_webhooks`. */
export function decideCreation(state: WebhookHolder, command: WebhookCreation, now: Instant): NewWebhook {
  const { actor, webhook } = command;
  requireAuthority(actor, state, DELIVERY_SCOPES, now);
  if (state.account === undefined)
    throw new DomainError(kernelErrors.not_found, `no account has the id ${webhook.accountId}`);
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
export function decideRemoval(state: WebhookState, command: WebhookCommand, now: Instant): void {
  requireOwn(state, command, MANAGING_SCOPES, now);
}

/** The webhook, if it may be pinged. @throws as `requireEnabled` */
export function decidePing(state: WebhookState, command: WebhookCommand, now: Instant): Webhook {
  return requireEnabled(state, command, MANAGING_SCOPES, now);
}

/** The webhook, if its deliveries may be queued again. @throws as `requireEnabled` */
export function decideRetry(state: WebhookState, command: WebhookCommand, now: Instant): Webhook {
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
export function requireWebhook(webhook: Webhook | undefined): Webhook {
  if (webhook === undefined) throw new DomainError(kernelErrors.not_found, 'no webhook of this account has that id');
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
    `the account has ${MOST_WEBHOOKS} webhooks, which is the most`,
  );
}

export function tooManyPings(): DomainError {
  return new DomainError(
    webhookErrors.too_many_pings,
    `${MOST_PINGS} pings of the webhook wait to be sent, which is the most`,
  );
}

export function webhookDisabled(): DomainError {
  return new DomainError(webhookErrors.webhook_disabled, 'the webhook is disabled; enable it first');
}

/** @param end when the first of them ends. */
export function tooManySecrets(end: Instant): DomainError {
  const from = new Date(end).toISOString();
  return new DomainError(
    webhookErrors.too_many_secrets,
    `${MOST_SECRETS} secrets of the webhook sign, which is the most; it can get another one from ${from} on`,
  );
}

/** Of secrets that were replaced, those that still sign at that instant. */
export function stillSigning<Past extends End>(past: readonly Past[], now: Instant): readonly Past[] {
  return past.filter(({ until }) => now < until);
}

/** The secrets that sign at that instant, the current one first. */
export function signingSecrets({ current, past }: WebhookSecrets, now: Instant): readonly string[] {
  return [current, ...stillSigning(past, now).map(({ secret }) => secret)];
}

export function newWebhookId(cryptography: Cryptography): WebhookId {
  return `whk_${randomBase62(24, cryptography)}` as WebhookId;
}

export function newWebhookSecret(cryptography: Cryptography): string {
  return `whsec_${base64(cryptography.randomBytes(32))}`;
}

function check({ url, types, description }: WebhookInput | WebhookChangeInput) {
  return checkAll({
    url: () => {
      // Its length is checked later (`webhookUrl`), because the sender normalises the URL.
      if (url !== undefined) requireStorable('url', url);
    },
    types: () => eventTypes(types ?? undefined),
    description: () => {
      if (typeof description !== 'string') return;
      requireLength('description', description, MAX_DESCRIPTION_LENGTH);
      requireStorable('description', description);
    },
  });
}

function eventTypes(names?: readonly string[]): readonly EventType[] | undefined {
  if (names === undefined) return undefined;
  const types = EVENT_TYPES.filter((type) => names.includes(type));
  if (types.length > 0 && types.length === names.length) return types;
  throw invalid('types', `must be some of ${EVENT_TYPES.join(', ')}, each at most once`);
}

function requireLength(field: string, text: string, most: number): void {
  if (!hasAtMostCodePoints(text, most)) throw invalid(field, `must be at most ${most} characters`);
}

function requireStorable(field: string, text: string): void {
  if (!isStorable(text)) throw invalid(field, 'must not contain U+0000 or a lone surrogate');
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < bytes.length; index += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(index, index + 3);
    const bits = (first << 16) | (second << 8) | third;
    for (const shift of [18, 12, 6, 0]) text += BASE64.charAt((bits >> shift) & 63);
  }
  const missing = (3 - (bytes.length % 3)) % 3;
  return text.slice(0, text.length - missing) + '='.repeat(missing);
}
