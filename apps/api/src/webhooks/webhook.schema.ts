import {
  DAY,
  DELIVERY_STATUSES,
  EVENT_TYPES,
  isoTime,
  KEPT_ATTEMPTS,
  MAX_DESCRIPTION_LENGTH,
  MAX_URL_LENGTH,
  MOST_FAILING,
  PING,
  type DeliveryAttempt,
  type Webhook,
  WEBHOOK_STATUSES,
  type WebhookChangeInput,
  type WebhookDelivery,
  type WebhookInput,
  webhookJson,
  type WebhookStatus,
  type WebhookWithSecret,
} from '@adoption-store/domain';
import { PLACED_EVENT } from '../events/event.schema.js';
import { pathParameter } from '../http/operations/path-parameter.js';
import { ResourceSchemas } from '../http/operations/resource-schemas.js';
import { type Described, object, oneOf, openSet, schemaRef, time } from '../http/operations/schema.js';
import type { Given } from '../http/operations/validation.js';

const NOON = '2026-11-21T12:00:00.000Z';
const { id: eventId, type: eventType } = PLACED_EVENT;

export const SHELTER = {
  id: 'whk_7Qm2ZcX9tR4bLk0VhJ5sWy1d',
  url: 'https://example.com/adoptions',
  types: ['order.placed', 'order.completed'],
  description: "The shelter's website",
  status: 'enabled',
  createdAt: NOON,
  updatedAt: NOON,
};
export const RECOVERING = { ...SHELTER, recoveringSince: NOON };
export const SECRET = { secret: 'whsec_YW4gZXhhbXBsZSwgbm90IGEgcmVhbCBzZWNyZXQhISE=' };

const started = { id: 'dlv_8d3c0b9af2e14675a1c2d3e4f5061728', eventId, type: eventType };
const ATTEMPT = { attemptedAt: NOON, responseStatus: 204, duration: 180 };
export const SENT = {
  ...started,
  status: 'sent',
  attempts: 1,
  responseStatus: 204,
  history: [ATTEMPT],
  createdAt: NOON,
};
export const QUEUED = { ...started, status: 'queued', attempts: 0, history: [], createdAt: NOON, nextAttemptAt: NOON };

const text = (example: string, description: string, more: Described = {}): Described => ({
  type: 'string',
  ...more,
  description,
  examples: [example],
});
const integer = (example: number, description: string): Described => ({
  type: 'integer',
  minimum: 0,
  description,
  examples: [example],
});
// Without an example, because ids are random.
const pathText = (name: string, description: string, component?: string) =>
  pathParameter({ name, description, schema: { type: 'string' }, component }, String);

export const WebhookId = pathText('webhookId', 'Identifier of the webhook.', 'WebhookId');
export const DeliveryId = pathText('deliveryId', 'Identifier of the delivery.');

const types = {
  type: 'array',
  minItems: 1,
  maxItems: EVENT_TYPES.length,
  items: schemaRef('EventType'),
  description: 'Only events of these types, each at most once. Default: all, also types that are added later.',
  examples: [SHELTER.types],
};
const description = text(SHELTER.description, 'For people.', { maxLength: MAX_DESCRIPTION_LENGTH });
const newWebhook = {
  url: text(
    SHELTER.url,
    'Where events are sent: `https`, port 443 or 1024 and above, a public address, no user name and no password, no outer white space, control character or backslash. It is stored as the URL standard of the WHATWG writes it, without a fragment.',
    { format: 'uri', maxLength: MAX_URL_LENGTH },
  ),
  types,
  description,
} satisfies Record<keyof WebhookInput, Described>;

const patch = {
  ...newWebhook,
  types: { ...types, type: ['array', 'null'], description: 'Only events of these types. Null: all.' },
  description: { ...description, type: ['string', 'null'], description: 'For people. Null removes it.' },
  status: schemaRef('WebhookStatus'),
} satisfies Record<keyof WebhookChangeInput, Described>;

const webhook = {
  id: text(SHELTER.id, 'Unique identifier.', { pattern: '^whk_[0-9A-Za-z]{24}$' }),
  ...newWebhook,
  types: {
    ...types,
    items: openSet(EVENT_TYPES, 'A type of events.'),
    description: 'The types of events that are sent. Absent: all.',
  },
  status: openSet(
    WEBHOOK_STATUSES,
    'A `disabled` webhook is sent nothing. It becomes so if the receiver answers 410, or if all deliveries have failed for ' +
      `${MOST_FAILING / DAY} days.`,
  ),
  recoveringSince: time(
    'Events since then that have failed or were never sent are being sent. Absent unless that goes on.',
  ),
  createdAt: time('When the webhook was created.'),
  updatedAt: time('When it was last changed.'),
} satisfies Record<Exclude<keyof Webhook, 'accountId'>, Described>;

const secret = text(SECRET.secret, 'Verifies what is sent. Store it: it is not shown again.', {
  pattern: '^whsec_[0-9A-Za-z+/]{43}=$',
});

const delivery = {
  id: text(SENT.id, 'Unique identifier.', { pattern: '^dlv_[0-9a-f]{32}$' }),
  eventId: text(eventId, 'Identifier of the event. Absent for a ping.', { pattern: '^evt_[0-9a-f]{32}$' }),
  type: openSet([...EVENT_TYPES, PING], 'The type of the event.'),
  status: openSet(DELIVERY_STATUSES, 'Whether it is still `queued`, has been `sent`, or has `failed` for good.'),
  attempts: integer(1, 'Attempts since it was last queued.'),
  responseStatus: integer(204, 'The status of the last response. Absent if there was none.'),
  history: {
    type: 'array',
    maxItems: KEPT_ATTEMPTS,
    items: schemaRef('DeliveryAttempt'),
    description: 'Its last attempts, oldest first: also those from before it was queued again.',
    examples: [[ATTEMPT]],
  },
  createdAt: time('When it was first due.'),
  nextAttemptAt: time('When it is attempted next. Absent unless it is `queued` and the webhook enabled.'),
} satisfies Record<keyof WebhookDelivery, Described>;

const attempt = {
  attemptedAt: time('When it began.'),
  responseStatus: integer(204, 'The status of the response. Absent if there was none.'),
  duration: integer(180, 'Milliseconds until the response, or until there could be none.'),
} satisfies Record<keyof DeliveryAttempt, Described>;

// What an object may lack.
const CHOICES = ['types', 'description'];
const SOMETIMES = [...CHOICES, 'recoveringSince'];

export const webhookSchemas = new ResourceSchemas({
  Webhook: object('Where events are sent.', webhook, SHELTER, SOMETIMES),
  WebhookWithSecret: object('A webhook and its secret.', { ...webhook, secret }, { ...SHELTER, ...SECRET }, SOMETIMES),
  NewWebhook: object('A webhook to create.', newWebhook, { url: SHELTER.url, types: SHELTER.types }, CHOICES),
  WebhookPatch: {
    type: 'object',
    description: 'The fields to change, at least one. The others stay.',
    minProperties: 1,
    properties: patch,
    examples: [{ status: 'disabled' }],
  },
  WebhookStatus: oneOf(WEBHOOK_STATUSES, 'Whether events are sent.'),
  Delivery: object('An event for a webhook.', delivery, SENT, ['eventId', 'responseStatus', 'nextAttemptAt']),
  DeliveryAttempt: object('What came of one attempt.', attempt, ATTEMPT, ['responseStatus']),
  Recovery: object('What to send again.', { since: time('Since when.') }, { since: NOON }),
});

const resource = 'a webhook';
/** What the body of a new webhook may have, so that one that was read can be sent. */
export const READ = { resource, properties: webhookSchemas.namesOf('Webhook') };
/** The same for a change: what was shown at creation can be sent back too. */
export const SHOWN = { resource, properties: webhookSchemas.namesOf('WebhookWithSecret') };

/** The body of POST /v1/webhooks. The domain validates the values. */
export class NewWebhookBody implements Given<WebhookInput> {
  @webhookSchemas.field('NewWebhook')
  readonly url!: string;

  @webhookSchemas.field('NewWebhook')
  readonly types!: readonly string[] | undefined;

  @webhookSchemas.field('NewWebhook')
  readonly description!: string | undefined;
}

/** The body of PATCH /v1/webhooks/{webhookId}: a JSON Merge Patch (RFC 7396), in which null removes a field. */
export class WebhookPatchBody implements Given<WebhookChangeInput> {
  @webhookSchemas.field('WebhookPatch')
  readonly url!: string | undefined;

  @webhookSchemas.field('WebhookPatch')
  readonly types!: readonly string[] | null | undefined;

  @webhookSchemas.field('WebhookPatch')
  readonly description!: string | null | undefined;

  @webhookSchemas.field('WebhookPatch')
  readonly status!: WebhookStatus | undefined;
}

export class RecoveryBody {
  @webhookSchemas.field('Recovery')
  readonly since!: string;
}

const write = webhookSchemas.serialiser('Webhook');
const writeAll = webhookSchemas.listSerialiser('Webhook');
const writeWithSecret = webhookSchemas.serialiser('WebhookWithSecret');
const writeDelivery = webhookSchemas.serialiser('Delivery');
const writeDeliveries = webhookSchemas.listSerialiser('Delivery');

/** The JSON of a webhook: a Webhook, without its account. */
export const presentWebhook = (webhook: Webhook): string => write(webhookJson(webhook));
export const presentWebhooks = (webhooks: readonly Webhook[]): string => writeAll(webhooks.map(webhookJson));
export const presentWithSecret = ({ webhook, ...shown }: WebhookWithSecret): string =>
  writeWithSecret({ ...webhookJson(webhook), ...shown });

/** The JSON of a delivery: a Delivery. */
export const presentDelivery = (delivery: WebhookDelivery): string => writeDelivery(deliveryJsonOf(delivery));
export const presentDeliveries = (page: readonly WebhookDelivery[]): string =>
  writeDeliveries(page.map(deliveryJsonOf));

function deliveryJsonOf({ history, createdAt, nextAttemptAt: next, ...delivery }: WebhookDelivery) {
  return {
    ...delivery,
    history: history.map(({ attemptedAt, ...attempt }) => ({ attemptedAt: isoTime(attemptedAt), ...attempt })),
    createdAt: isoTime(createdAt),
    nextAttemptAt: next === undefined ? undefined : isoTime(next),
  };
}
