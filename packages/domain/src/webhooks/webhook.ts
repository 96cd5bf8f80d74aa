import type { Account, AccountId } from '../accounts/account.js';
import { EVENT_TYPES, type EventType } from '../events/event.js';
import { randomBase62 } from '../kernel/base62.js';
import type { Branded } from '../kernel/branded.js';
import { DAY, type Instant, later } from '../kernel/clock.js';
import type { Condition } from '../kernel/condition.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { checkAll, DomainError, invalid } from '../kernel/errors.js';
import { hasAtMostCodePoints, isStorable } from '../kernel/text.js';

/** `whk_` and 24 base62 characters. */
export type WebhookId = Branded<string, 'WebhookId'>;

export const WEBHOOK_STATUSES = ['enabled', 'disabled'] as const;
/** A `disabled` one is sent nothing. Events that happen meanwhile have no delivery, unless they are recovered. */
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
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** Each secret is `whsec_` and the base64 of 32 bytes. */
export interface WebhookSecrets {
  readonly current: string;
  /** The secret before the last rotation, which also signs until it ends. */
  readonly previous?: { readonly secret: string; readonly until: Instant } | undefined;
}

/** A webhook as it is stored. Only its creation, its rotation and its deliveries see the secrets. */
export interface StoredWebhook extends Webhook {
  readonly secrets: WebhookSecrets;
}

export const MOST_WEBHOOKS = 10;
export const MAX_URL_LENGTH = 2_048;
export const MAX_DESCRIPTION_LENGTH = 255;
/** How long the former secret signs after a rotation. */
export const SECRET_OVERLAP = DAY;

export interface WebhookInput {
  readonly url: string;
  /** Default: all. */
  readonly types?: readonly string[] | undefined;
  readonly description?: string | undefined;
}

/** Null takes the value away. */
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

export interface WebhookCommand extends OwnWebhook {
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
 * The URL, as the sender has written it, once its length is judged.
 *
 * @throws DomainError `invalid_parameter`
 */
export function webhookUrl(written: string): string {
  requireLength('url', written, MAX_URL_LENGTH);
  return written;
}

export interface WebhookHolder {
  /** Undefined if there is no such account, or it is closed. */
  readonly account: Account | undefined;
  /** The number of its webhooks. */
  readonly webhooks: number;
}

/** @throws DomainError `not_found` if the account isn't there, or `too_many_webhooks`. */
export function decideCreation({ account, webhooks }: WebhookHolder, webhook: StoredWebhook): StoredWebhook {
  if (account === undefined) throw new DomainError('not_found', `no account has the id ${webhook.accountId}`);
  if (webhooks >= MOST_WEBHOOKS) throw tooManyWebhooks();
  return webhook;
}

/**
 * The webhook after its owner's change. The same one if nothing changes.
 *
 * @throws DomainError `not_found` or `precondition_failed`
 */
export function decideWebhookChange(stored: StoredWebhook | undefined, edit: WebhookEdit, now: Instant): StoredWebhook {
  const webhook = requireWebhook(stored, edit);
  const changed = { ...webhook, ...edit.change };
  const isSame = (['url', 'types', 'description', 'status'] as const).every(
    (field) => JSON.stringify(changed[field]) === JSON.stringify(webhook[field]),
  );
  return isSame ? webhook : { ...changed, updatedAt: now };
}

/**
 * The webhook with another secret. Both sign for a day.
 *
 * @throws DomainError `not_found` or `precondition_failed`
 */
export function decideSecretRotation(
  stored: StoredWebhook | undefined,
  command: WebhookCommand & { readonly secret: string },
  now: Instant,
): StoredWebhook {
  const webhook = requireWebhook(stored, command);
  const previous = { secret: webhook.secrets.current, until: later(now, SECRET_OVERLAP) };
  return { ...webhook, secrets: { current: command.secret, previous }, updatedAt: now };
}

/** @throws DomainError `not_found` or `precondition_failed` */
export function requireWebhook<Known extends Webhook>(
  webhook: Known | undefined,
  { condition }: WebhookCommand,
): Known {
  if (webhook === undefined) throw new DomainError('not_found', 'no webhook of this account has that id');
  const { secrets, ...shown }: Webhook & Partial<StoredWebhook> = webhook;
  condition?.(shown);
  return webhook;
}

/** @throws DomainError `not_found`, `precondition_failed`, or `webhook_disabled`, because nothing would be sent. */
export function requireEnabled(stored: Webhook | undefined, command: WebhookCommand): Webhook {
  const webhook = requireWebhook(stored, command);
  if (webhook.status === 'enabled') return webhook;
  throw webhookDisabled();
}

export function tooManyWebhooks(): DomainError {
  return new DomainError('too_many_webhooks', `the account has ${MOST_WEBHOOKS} webhooks, which is the most`);
}

export function webhookDisabled(): DomainError {
  return new DomainError('webhook_disabled', 'the webhook is disabled; enable it first');
}

/** The secrets that sign at that instant. */
export function signingSecrets({ current, previous }: WebhookSecrets, now: Instant): readonly string[] {
  return previous !== undefined && now < previous.until ? [current, previous.secret] : [current];
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
      // Not yet its length: it is stored as the sender writes it.
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
