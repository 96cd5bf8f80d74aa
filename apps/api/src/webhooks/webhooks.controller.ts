import {
  type AccountRequest,
  ChangeWebhook,
  type Condition,
  CreateWebhook,
  DeleteWebhook,
  DELIVERY_SCOPES,
  type DeliveryId as IdOfDelivery,
  deliveryIdFrom,
  GetWebhook,
  HOUR,
  type InTurn,
  ListDeliveries,
  ListWebhooks,
  MOST_PINGS,
  MOST_SECRETS,
  MOST_WEBHOOKS,
  PingWebhook,
  readInstant,
  RecoverDeliveries,
  RetryDelivery,
  RotateWebhookSecret,
  SECRET_OVERLAP,
  type Webhook,
  webhookChange,
  type WebhookCommand,
  webhookFields,
  type WebhookWithSecret,
} from '@adoption-store/domain';
import { Turns } from '@adoption-store/infrastructure/turns';
import { queryOf } from '@adoption-store/web/edge';
import { Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/answers/api-context.js';
import { Conditions, entityTag } from '../http/operations/conditions.js';
import { JsonBody, MERGE_PATCH } from '../http/operations/json-body.decorator.js';
import { Operation } from '../http/operations/operation.js';
import { presentPage, sendPage } from '../http/operations/pages.js';
import { Cursor, Limit } from '../http/operations/query-parameters.js';
import { exampleOf, json, page } from '../http/operations/schema.js';
import { ValidQuery } from '../http/operations/valid-query.decorator.js';
import { Idempotency } from '../idempotency/idempotency.js';
import {
  DeliveryId,
  NewWebhookBody,
  presentDeliveries,
  presentDelivery,
  presentWebhook,
  presentWebhooks,
  presentWithSecret,
  QUEUED,
  READ,
  RECOVERING,
  RecoveryBody,
  SECRET,
  SENT,
  SHELTER,
  SHOWN,
  WebhookId,
  WebhookPatchBody,
} from './webhook.schema.js';

const CURSOR = 'deliveries';

const ENABLED = 'Of a webhook that is disabled it is refused with 409 `webhook_disabled`.';
const KNOWN = 'A property that no webhook has is refused, because a misspelt `types` would send everything.';
const UNSTORED =
  'The response shows the secret, and no other response does. It is not stored either, so an `Idempotency-Key` is refused with 400.';

const OURS = { scope: 'webhooks:write', stability: 'experimental' } as const;
/**
 * For operations that cause deliveries. `ScopesGuard` judges the scopes at once, and `requireAuthority` judges them again in
 * the transaction that acts. Those of a PATCH depend on its body, so only the transaction judges them.
 */
const SENDING = { ...OURS, scope: DELIVERY_SCOPES } as const;
const webhookJson = exampleOf('Webhook', 'the webhook');
const secretJson = json('WebhookWithSecret', { 'the webhook': { ...SHELTER, ...SECRET } });
const queuedJson = json('Delivery', { 'the delivery': QUEUED });

type IfUnchanged = Condition<Webhook> | undefined;

/** The query of GET /v1/webhooks/{webhookId}/deliveries. Each parameter may occur once. */
class ListDeliveriesQuery {
  @Limit()
  limit?: number;

  @Cursor(CURSOR, deliveryIdFrom)
  after?: IdOfDelivery;
}

@Controller()
export class WebhooksController {
  constructor(
    private readonly context: ApiContext,
    private readonly turns: Turns,
    private readonly idempotency: Idempotency,
    private readonly listWebhooks: ListWebhooks,
    private readonly createWebhook: CreateWebhook,
    private readonly getWebhook: GetWebhook,
    private readonly changeWebhook: ChangeWebhook,
    private readonly deleteWebhook: DeleteWebhook,
    private readonly rotateWebhookSecret: RotateWebhookSecret,
    private readonly pingWebhook: PingWebhook,
    private readonly listDeliveries: ListDeliveries,
    private readonly retryDelivery: RetryDelivery,
    private readonly recoverDeliveries: RecoverDeliveries,
  ) {}

  @Operation('GET /v1/webhooks', {
    ...OURS,
    id: 'listWebhooks',
    summary: 'List webhooks',
    description: `Lists the account's webhooks, the oldest first. There are at most ${MOST_WEBHOOKS}, so the list has no pages.`,
    success: { 200: ['The webhooks.', page('Webhook', SHELTER)] },
  })
  async list(@Req() { caller }: FastifyRequest): Promise<string> {
    const { account } = caller;
    const input = { accountId: account.id };
    return presentWebhooks(await this.turns.reads.run(account, () => this.listWebhooks.execute(input)));
  }

  @Operation('POST /v1/webhooks', {
    ...SENDING,
    id: 'createWebhook',
    summary: 'Create a webhook',
    idempotencyKey: 'refused',
    turns: 'slow',
    description:
      'Has the events that happen from now on sent to a URL, as [Standard Webhooks](https://www.standardwebhooks.com) says. ' +
      `An account that has 10 webhooks gets 409 \`too_many_webhooks\`. ${KNOWN} ${UNSTORED}`,
    examples: { 'some events': { url: SHELTER.url, types: SHELTER.types }, 'all events': { url: SHELTER.url } },
    success: { 201: ['The webhook has been created.', secretJson] },
    refusals: [409],
  })
  async create(
    @JsonBody(NewWebhookBody, { check: webhookFields, known: READ }) { url, types, description }: NewWebhookBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const input = { ...requestOf(request), url, types, description };
    const created = await this.createWebhook.execute(input, this.turnsOf(request));
    reply.header('location', `${this.context.origin(request)}/v1/webhooks/${created.webhook.id}`);
    return showSecret(reply, created);
  }

  @Operation('GET /v1/webhooks/{webhookId}', {
    ...OURS,
    id: 'getWebhook',
    summary: 'Get a webhook',
    description: "Gets one of the account's webhooks.",
    success: { 200: ['The webhook.', webhookJson(SHELTER)] },
    refusals: [404],
  })
  async get(@WebhookId() id: string, @Req() request: FastifyRequest): Promise<string> {
    const { account } = request.caller;
    return presentWebhook(await this.turns.reads.run(account, () => this.getWebhook.execute(own(request, id))));
  }

  @Operation('PATCH /v1/webhooks/{webhookId}', {
    ...OURS,
    id: 'changeWebhook',
    summary: 'Change a webhook',
    turns: 'slow',
    description:
      'Changes the given fields, as a JSON Merge Patch (RFC 7396); the others stay. Null removes `types` or `description`. ' +
      `Unless it only disables the webhook, it needs the scope \`events:read\` too. ${KNOWN}`,
    examples: { pause: { status: 'disabled' }, 'all events': { types: null } },
    success: { 200: ['The webhook has been changed.', webhookJson({ ...SHELTER, status: 'disabled' })] },
    refusals: [404],
  })
  async change(
    @WebhookId() id: string,
    @JsonBody(WebhookPatchBody, { mediaTypes: MERGE_PATCH, check: webhookChange, known: SHOWN })
    change: WebhookPatchBody,
    @Conditions(presentWebhook) condition: IfUnchanged,
    @Req() request: FastifyRequest,
  ): Promise<string> {
    const input = { ...own(request, id, condition), change };
    return presentWebhook(await this.changeWebhook.execute(input, this.turnsOf(request)));
  }

  @Operation('DELETE /v1/webhooks/{webhookId}', {
    ...OURS,
    id: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'Deletes the webhook with its secret and its deliveries. Nothing more is sent to it.',
    success: { 204: ['The webhook has been deleted.'] },
    refusals: [404],
  })
  async delete(
    @WebhookId() id: string,
    @Conditions(presentWebhook) condition: IfUnchanged,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    await this.deleteWebhook.execute(own(request, id, condition));
  }

  @Operation('POST /v1/webhooks/{webhookId}/rotate-secret', {
    ...OURS,
    id: 'rotateWebhookSecret',
    summary: 'Rotate the secret of a webhook',
    idempotencyKey: 'refused',
    description:
      `Gives the webhook another secret. The one that it replaces also signs for ${SECRET_OVERLAP / HOUR} hours. ` +
      `At most ${MOST_SECRETS} sign at the same time: ` +
      `one more rotation gets 409 \`too_many_secrets\`. ${UNSTORED}`,
    success: { 200: ['The webhook has another secret.', secretJson] },
    refusals: [404, 409],
  })
  async rotate(
    @WebhookId() id: string,
    @Conditions(presentWebhook) condition: IfUnchanged,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return showSecret(reply, await this.rotateWebhookSecret.execute(own(request, id, condition)));
  }

  @Operation('POST /v1/webhooks/{webhookId}/ping', {
    ...OURS,
    id: 'pingWebhook',
    summary: 'Ping a webhook',
    description: `Queues a delivery of the type \`webhook.ping\`, to try the receiver. At most ${MOST_PINGS} wait: one more is refused with 409 \`too_many_pings\`. ${ENABLED}`,
    success: { 202: ['The ping has been queued.', queuedJson] },
    refusals: [404],
  })
  async ping(
    @WebhookId() id: string,
    @Conditions(presentWebhook) condition: IfUnchanged,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.idempotency.once(request, reply, async (transaction) => ({
      body: presentDelivery(await this.pingWebhook.execute(own(request, id, condition), transaction)),
    }));
  }

  @Operation('GET /v1/webhooks/{webhookId}/deliveries', {
    ...OURS,
    id: 'listDeliveries',
    summary: 'List the deliveries of a webhook',
    description: 'Lists the deliveries, the newest first. They are kept as long as their events.',
    success: { 200: ['A page of deliveries.', page('Delivery', SENT)] },
    refusals: [404],
  })
  async deliveries(
    @WebhookId() id: string,
    @ValidQuery(ListDeliveriesQuery) { limit, after }: ListDeliveriesQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const input = { ...own(request, id), limit, after };
    const { account } = request.caller;
    const { items, next } = await this.turns.reads.run(account, () => this.listDeliveries.execute(input));
    const presented = presentPage(CURSOR, queryOf(request.url), presentDeliveries(items), next);
    return sendPage(request, reply, this.context.origin(request), presented);
  }

  @Operation('POST /v1/webhooks/{webhookId}/deliveries/{deliveryId}/retry', {
    ...SENDING,
    id: 'retryDelivery',
    summary: 'Retry a delivery',
    description: `Queues the delivery again, with all its attempts; it is due at once. ${ENABLED}`,
    success: { 202: ['The delivery has been queued again.', queuedJson] },
    refusals: [404],
  })
  async retry(
    @WebhookId() id: string,
    @DeliveryId() delivery: string,
    @Conditions(presentWebhook) condition: IfUnchanged,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const input = { ...own(request, id, condition), deliveryId: delivery };
    return this.idempotency.once(request, reply, async (transaction) => ({
      body: presentDelivery(await this.retryDelivery.execute(input, transaction)),
    }));
  }

  @Operation('POST /v1/webhooks/{webhookId}/recover', {
    ...SENDING,
    id: 'recoverDeliveries',
    summary: 'Recover deliveries',
    idempotencyKey: 'ignored',
    description:
      'Has sent again what has failed or was never sent, of the events that have happened since a time and are still kept, at ' +
      'the pace of the receiver; events from before the webhook was created too. Until that is done the webhook shows ' +
      `\`recoveringSince\`: the earlier time, if it is asked for twice. A repetition sends nothing twice. ${ENABLED}`,
    examples: { 'since a time': { since: SHELTER.createdAt } },
    success: { 202: ['The wish has been stored.', webhookJson(RECOVERING)] },
    refusals: [404, 409],
  })
  async recover(
    @WebhookId() id: string,
    @JsonBody(RecoveryBody) { since }: RecoveryBody,
    @Conditions(presentWebhook) condition: IfUnchanged,
    @Req() request: FastifyRequest,
  ): Promise<string> {
    const input = { ...own(request, id, condition), since: readInstant('since', since) };
    return presentWebhook(await this.recoverDeliveries.execute(input));
  }

  private turnsOf({ caller }: FastifyRequest): InTurn {
    return (work) => this.turns.writes.run(caller.account, work);
  }
}

/** Names the key, so that the domain can check it again in the transaction that stores the change. */
function requestOf({ caller: { accountId, keyId } }: FastifyRequest): AccountRequest {
  return { accountId, actor: { keyId } };
}

function own(request: FastifyRequest, id: string, condition?: IfUnchanged): WebhookCommand {
  return { ...requestOf(request), id, condition };
}

/** The response has the secret, but its tag is that of a GET: of the webhook without it. */
function showSecret(reply: FastifyReply, shown: WebhookWithSecret): string {
  reply.header('etag', entityTag(presentWebhook(shown.webhook)));
  return presentWithSecret(shown);
}
