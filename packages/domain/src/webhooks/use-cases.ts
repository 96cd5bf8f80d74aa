import type { AccountId } from '../accounts/account.js';
import type { AccountRequest } from '../accounts/keys/authority.js';
import { DomainError, kernelErrors, ours } from '../kernel/errors.js';
import { type Page, type PageRequest, readPage } from '../kernel/page.js';
import type { Transaction } from '../kernel/transaction.js';
import type { DeliveryId, DeliveryWithBody, WebhookDelivery } from './delivery.js';
import type { WebhookPorts } from './ports.js';
import {
  decideCreation,
  decidePing,
  decideRecovery,
  decideWebhookDeletion,
  decideDeliveryRetry,
  decideSecretRotation,
  decideWebhookChange,
  newWebhookId,
  type OwnWebhook,
  type RecoveryCommand,
  requireRoom,
  requireWebhook,
  tooManyPings,
  type Webhook,
  type WebhookCommand,
  type WebhookEdit,
  type WebhookId,
  type WebhookState,
  type WebhookWithFailures,
} from './webhook.js';
import {
  type WebhookChangeInput,
  webhookChange,
  webhookFields,
  type WebhookInput,
  webhookUrl,
} from './webhook-fields.js';
import { newWebhookSecret } from './webhook-secrets.js';

export { DeliverWebhooks, type WebhookReport } from './deliver-webhooks.js';
export * from './operator-use-cases.js';
export { ReencryptWebhooks } from './reencrypt-webhooks.js';

/** The secret is shown once. */
export interface WebhookWithSecret {
  readonly webhook: Webhook;
  /** `whsec_…` */
  readonly secret: string;
}

/** Runs work on the database when it may begin. Asking name servers, who answer when they like, is no such work. */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

const atOnce: InTurn = (work) => work();

export interface CreateWebhookInput extends WebhookInput, AccountRequest {}

export class CreateWebhook {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks' | 'webhookSender' | 'clock' | 'cryptography'>) {}

  /** @throws as `decideCreation`; DomainError `invalid_parameter` */
  async execute({ accountId, actor, ...input }: CreateWebhookInput, inTurn = atOnce): Promise<WebhookWithSecret> {
    const { webhooks, webhookSender, clock, cryptography } = this.ports;
    const fields = webhookFields(input);
    // Fails early, before `check` asks name servers. `decideCreation` checks it again.
    requireRoom((await inTurn(() => webhooks.list(accountId))).length);
    const url = webhookUrl(await webhookSender.check(fields.url));
    const secret = newWebhookSecret(cryptography);
    const now = clock.now();
    const id = newWebhookId(cryptography);
    const webhook = {
      ...fields,
      url,
      id,
      accountId,
      secret,
      recoveringSince: undefined,
      createdAt: now,
      updatedAt: now,
    };
    const command = { actor, webhook };
    const request = { accountId, actor };
    const add = () => webhooks.add(request, (state) => decideCreation(state, command, clock.now()));
    return { webhook: await inTurn(add), secret };
  }
}

/** All webhooks of an account, the oldest first: at most 10. */
export class ListWebhooks {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks'>) {}

  async execute({ accountId }: { readonly accountId: AccountId }): Promise<readonly WebhookWithFailures[]> {
    return this.ports.webhooks.list(accountId);
  }
}

export class GetWebhook {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks'>) {}

  /** @throws DomainError `not_found`, also for another account's webhook. */
  async execute(own: OwnWebhook): Promise<WebhookWithFailures> {
    return requireWebhook(await this.ports.webhooks.findById(own.accountId, own.id as WebhookId));
  }
}

export interface ChangeWebhookInput extends WebhookCommand {
  readonly change: WebhookChangeInput;
}

export class ChangeWebhook {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks' | 'webhookSender' | 'clock'>) {}

  /** @throws as `decideWebhookChange`; DomainError `invalid_parameter` */
  async execute({ change, ...command }: ChangeWebhookInput, inTurn = atOnce): Promise<Webhook> {
    const { webhooks, clock } = this.ports;
    const edit = { ...command, change: webhookChange(change) };
    const { url } = edit.change;
    const checked =
      url === undefined ? edit : { ...edit, change: { ...edit.change, url: await this.checkedUrl(edit, url, inTurn) } };
    return inTurn(() => webhooks.change(command, (state) => decideWebhookChange(state, checked, clock.now())));
  }

  /** The change is checked first, before `check` asks name servers, and again when it is stored. */
  private async checkedUrl(edit: WebhookEdit, url: string, inTurn: InTurn): Promise<string> {
    const { webhooks, webhookSender, clock } = this.ports;
    const judge = async (state: WebhookState) => {
      decideWebhookChange(state, edit, clock.now());
      return state.webhook?.url;
    };
    const stored = await inTurn(() => webhooks.lock(edit, judge));
    return url === stored ? url : webhookUrl(await webhookSender.check(url));
  }
}

export class DeleteWebhook {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks' | 'clock'>) {}

  /** @throws as `decideWebhookDeletion` */
  async execute(command: WebhookCommand): Promise<void> {
    await this.ports.webhooks.delete(command, (state) => {
      decideWebhookDeletion(state, command, this.ports.clock.now());
    });
  }
}

/** Gives a webhook a new secret. For a day the replaced one signs, too. */
export class RotateWebhookSecret {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks' | 'clock' | 'cryptography'>) {}

  /** @throws as `decideSecretRotation` */
  async execute(command: WebhookCommand): Promise<WebhookWithSecret> {
    const { webhooks, clock, cryptography } = this.ports;
    const secret = newWebhookSecret(cryptography);
    const webhook = await webhooks.rotate(command, (state) =>
      decideSecretRotation(state, { ...command, secret }, clock.now()),
    );
    return { webhook, secret };
  }
}

type DeliveryPorts = Pick<WebhookPorts, 'webhooks' | 'webhookDeliveries' | 'clock'>;

/** Queues a delivery without an event, so that an owner can try the receiver. */
export class PingWebhook {
  constructor(private readonly ports: DeliveryPorts) {}

  /** @throws as `decidePing`; DomainError `too_many_pings` */
  async execute(command: WebhookCommand, transaction?: Transaction): Promise<WebhookDelivery> {
    const { webhooks, webhookDeliveries, clock } = this.ports;
    const ping = async (state: WebhookState, locked: Transaction) => {
      const now = clock.now();
      const queued = await webhookDeliveries.ping(decidePing(state, command, now).id, now, locked);
      if (queued === undefined) throw tooManyPings();
      return queued;
    };
    return webhooks.lock(command, ping, transaction);
  }
}

/** Makes the next round due of each webhook for which the feed has events. Called after events were published. */
export class WakeWebhooks {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhookQueue'>) {}

  /** Returns their number. */
  async execute(): Promise<number> {
    return this.ports.webhookQueue.wake();
  }
}

export interface ListDeliveriesInput extends OwnWebhook, PageRequest<DeliveryId> {}

export interface DeliveriesOfWebhook extends Page<WebhookDelivery, DeliveryId> {
  readonly webhook: WebhookWithFailures;
}

/** A page of a webhook's deliveries, newest first. */
export class ListDeliveries {
  constructor(private readonly ports: Omit<DeliveryPorts, 'clock'>) {}

  /** @throws DomainError `invalid_parameter` or `not_found` */
  async execute({ accountId, id, ...wanted }: ListDeliveriesInput): Promise<DeliveriesOfWebhook> {
    const webhook = await new GetWebhook(this.ports).execute({ accountId, id });
    const page = await readPage<WebhookDelivery, DeliveryId>(
      wanted,
      (delivery) => delivery.id,
      (part) => this.ports.webhookDeliveries.list({ webhookId: webhook.id, ...part }),
    );
    return { webhook, ...page };
  }
}

export interface OwnDelivery extends OwnWebhook {
  readonly deliveryId: string;
}

export interface DeliveryOfWebhook extends DeliveryWithBody {
  readonly webhook: Webhook;
}

export class GetDelivery {
  constructor(private readonly ports: Omit<DeliveryPorts, 'clock'>) {}

  /** @throws DomainError `not_found` */
  async execute({ deliveryId, ...own }: OwnDelivery): Promise<DeliveryOfWebhook> {
    const webhook = await new GetWebhook(this.ports).execute(own);
    const found = await this.ports.webhookDeliveries.find(webhook.id, deliveryId as DeliveryId);
    if (found === undefined) throw noDelivery();
    return { webhook, ...found };
  }
}

export interface RetryDeliveryInput extends WebhookCommand {
  readonly deliveryId: string;
}

/** Queues a delivery again, whatever its status. It is due at once, and has all its attempts again. */
export class RetryDelivery {
  constructor(private readonly ports: DeliveryPorts) {}

  /** @throws as `decideDeliveryRetry` */
  async execute({ deliveryId, ...command }: RetryDeliveryInput, transaction?: Transaction): Promise<WebhookDelivery> {
    const { webhooks, webhookDeliveries, clock } = this.ports;
    const retry = async (state: WebhookState, locked: Transaction) => {
      const { id } = decideDeliveryRetry(state, command, clock.now());
      const delivery = await webhookDeliveries.retry(id, deliveryId as DeliveryId, locked);
      if (delivery === undefined) throw noDelivery();
      return delivery;
    };
    return webhooks.lock(command, retry, transaction);
  }
}

/**
 * Asks for the events since an instant to be sent again, if their delivery has failed or never began and they are still
 * kept. This only stores the request; `DeliverWebhooks` does the work.
 */
export class RecoverDeliveries {
  constructor(private readonly ports: DeliveryPorts) {}

  /** @throws as `decideRecovery` */
  async execute(command: RecoveryCommand): Promise<Webhook> {
    const { webhooks, webhookDeliveries, clock } = this.ports;
    return webhooks.lock(command, async (state, locked) => {
      const recovering = decideRecovery(state, command, clock.now());
      await webhookDeliveries.recover(recovering.id, recovering.recoveringSince, locked);
      return recovering;
    });
  }
}

function noDelivery(): DomainError {
  return new DomainError(kernelErrors.not_found, ours`no delivery of this webhook has that id`);
}
