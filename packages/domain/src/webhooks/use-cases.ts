import type { AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import { type Page, type PageRequest, readPage } from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import type { DeliveryId, WebhookDelivery } from './delivery.js';
import type { WebhookPorts } from './ports.js';
import {
  decideCreation,
  decideSecretRotation,
  decideWebhookChange,
  newWebhookId,
  newWebhookSecret,
  type OwnWebhook,
  requireEnabled,
  requireWebhook,
  type Webhook,
  type WebhookChangeInput,
  webhookChange,
  type WebhookCommand,
  webhookFields,
  type WebhookId,
  type WebhookInput,
  webhookUrl,
} from './webhook.js';

export { DeliverWebhooks, type WebhookAttempt } from './deliver-webhooks.js';

/** The secret is shown once. */
export interface WebhookWithSecret {
  readonly webhook: Webhook;
  /** `whsec_…` */
  readonly secret: string;
}

export interface CreateWebhookInput extends WebhookInput {
  readonly accountId: AccountId;
}

export class CreateWebhook {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks' | 'webhookSender' | 'clock' | 'cryptography'>) {}

  /** @throws DomainError `invalid_parameter` or `too_many_webhooks` */
  async execute({ accountId, ...input }: CreateWebhookInput): Promise<WebhookWithSecret> {
    const { webhooks, webhookSender, clock, cryptography } = this.ports;
    const fields = webhookFields(input);
    const url = webhookUrl(await webhookSender.check(fields.url));
    const secret = newWebhookSecret(cryptography);
    const now = clock.now();
    const id = newWebhookId(cryptography);
    const stored = { ...fields, url, id, accountId, secrets: { current: secret }, createdAt: now, updatedAt: now };
    return { webhook: await webhooks.add(accountId, (state) => decideCreation(state, stored)), secret };
  }
}

/** All webhooks of an account, the oldest first: at most 10. */
export class ListWebhooks {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks'>) {}

  async execute({ accountId }: { readonly accountId: AccountId }): Promise<readonly Webhook[]> {
    return this.ports.webhooks.list(accountId);
  }
}

export class GetWebhook {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks'>) {}

  /** @throws DomainError `not_found`, also for another account's webhook. */
  async execute(own: OwnWebhook): Promise<Webhook> {
    return requireWebhook(await this.ports.webhooks.findById(own.accountId, own.id as WebhookId), own);
  }
}

export interface ChangeWebhookInput extends WebhookCommand {
  readonly change: WebhookChangeInput;
}

export class ChangeWebhook {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks' | 'webhookSender' | 'clock'>) {}

  /** @throws DomainError `invalid_parameter`, `not_found` or `precondition_failed` */
  async execute({ change, ...command }: ChangeWebhookInput): Promise<Webhook> {
    const { webhooks, webhookSender, clock } = this.ports;
    const fields = webhookChange(change);
    const id = command.id as WebhookId;
    // Before the check, which asks other servers.
    const stored = requireWebhook(await webhooks.findById(command.accountId, id), command);
    const isNewUrl = fields.url !== undefined && fields.url !== stored.url;
    const url = isNewUrl ? webhookUrl(await webhookSender.check(fields.url)) : fields.url;
    const edit = { ...command, change: url === undefined ? fields : { ...fields, url } };
    return webhooks.change(command.accountId, id, (webhook) => decideWebhookChange(webhook, edit, clock.now()));
  }
}

export class DeleteWebhook {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks'>) {}

  /** @throws DomainError `not_found` or `precondition_failed` */
  async execute(command: WebhookCommand): Promise<void> {
    await this.ports.webhooks.remove(command.accountId, command.id as WebhookId, (webhook) => {
      requireWebhook(webhook, command);
    });
  }
}

/** Gives a webhook another secret. The former one also signs for a day. */
export class RotateWebhookSecret {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks' | 'clock' | 'cryptography'>) {}

  /** @throws DomainError `not_found` or `precondition_failed` */
  async execute(command: WebhookCommand): Promise<WebhookWithSecret> {
    const { webhooks, clock, cryptography } = this.ports;
    const secret = newWebhookSecret(cryptography);
    const webhook = await webhooks.change(command.accountId, command.id as WebhookId, (stored) =>
      decideSecretRotation(stored, { ...command, secret }, clock.now()),
    );
    return { webhook, secret };
  }
}

type DeliveryPorts = Pick<WebhookPorts, 'webhooks' | 'webhookDeliveries'>;

/** Queues a delivery without an event, so that an owner can try the receiver. */
export class PingWebhook {
  constructor(private readonly ports: DeliveryPorts & Pick<WebhookPorts, 'clock'>) {}

  /** @throws DomainError `not_found`, `precondition_failed` or `webhook_disabled` */
  async execute(command: WebhookCommand, transaction?: Transaction): Promise<WebhookDelivery> {
    const { id } = await findEnabled(this.ports, command, transaction);
    return this.ports.webhookDeliveries.ping(id, this.ports.clock.now(), transaction);
  }
}

export interface ListDeliveriesInput extends OwnWebhook, PageRequest<DeliveryId> {}

/** A page of a webhook's deliveries, newest first. */
export class ListDeliveries {
  constructor(private readonly ports: DeliveryPorts) {}

  /** @throws DomainError `invalid_parameter` or `not_found` */
  async execute({ accountId, id, ...page }: ListDeliveriesInput): Promise<Page<WebhookDelivery, DeliveryId>> {
    const { id: webhookId } = await new GetWebhook(this.ports).execute({ accountId, id });
    return readPage<WebhookDelivery, DeliveryId>(
      page,
      (delivery) => delivery.id,
      (part) => this.ports.webhookDeliveries.list({ webhookId, ...part }),
    );
  }
}

export interface RetryDeliveryInput extends WebhookCommand {
  readonly deliveryId: string;
}

/** Sends a delivery again at once, whatever has become of it, with all its attempts. */
export class RetryDelivery {
  constructor(private readonly ports: DeliveryPorts) {}

  /** @throws DomainError `not_found`, `precondition_failed` or `webhook_disabled` */
  async execute({ deliveryId, ...command }: RetryDeliveryInput, transaction?: Transaction): Promise<WebhookDelivery> {
    const { id } = await findEnabled(this.ports, command, transaction);
    const delivery = await this.ports.webhookDeliveries.retry(id, deliveryId as DeliveryId, transaction);
    if (delivery === undefined) throw new DomainError('not_found', 'no delivery of this webhook has that id');
    return delivery;
  }
}

export interface RecoverDeliveriesInput extends WebhookCommand {
  readonly since: Instant;
}

/** Sends again what has failed, or was never sent, of the events that happened at that instant or later and are kept. */
export class RecoverDeliveries {
  constructor(private readonly ports: DeliveryPorts) {}

  /** Returns the number of deliveries. @throws DomainError `not_found`, `precondition_failed` or `webhook_disabled` */
  async execute({ since, ...command }: RecoverDeliveriesInput): Promise<number> {
    const { id } = await findEnabled(this.ports, command);
    return this.ports.webhookDeliveries.recover(id, since);
  }
}

async function findEnabled(
  { webhooks }: DeliveryPorts,
  command: WebhookCommand,
  transaction?: Transaction,
): Promise<Webhook> {
  return requireEnabled(await webhooks.findById(command.accountId, command.id as WebhookId, transaction), command);
}
