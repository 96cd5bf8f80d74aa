import { typedAddress } from '../accounts/address.js';
import type { KeyPorts } from '../accounts/keys/ports.js';
import { DomainError, kernelErrors } from '../kernel/errors.js';
import type { WebhookPorts } from './ports.js';
import {
  decideWebhookDeletion,
  decideWebhookChange,
  type Webhook,
  type WebhookCommand,
  type WebhookId,
  type WebhookStatus,
} from './webhook.js';
import type { AccountWebhook, SecretCounts, WebhookPart } from './webhook-repository.js';

// Operators may use every webhook, so these use cases find it by its id, without an account.

export interface ListAllWebhooksInput extends WebhookPart {
  readonly email?: string | undefined;
}

/** The webhooks of all accounts, or of one. */
export class ListAllWebhooks {
  constructor(private readonly ports: Pick<WebhookPorts & KeyPorts, 'webhooks' | 'accounts'>) {}

  /** Empty if there is no such account. @throws DomainError `invalid_parameter` */
  async execute({ email, ...part }: ListAllWebhooksInput): Promise<readonly AccountWebhook[]> {
    if (email === undefined) return this.ports.webhooks.listAll(part);
    const account = await this.ports.accounts.findByEmail(typedAddress(email));
    return account === undefined ? [] : this.ports.webhooks.listAll({ ...part, accountId: account.id });
  }
}

/** Disables a webhook, or enables it. */
export class SwitchAnyWebhook {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks' | 'clock'>) {}

  /** @throws DomainError `not_found` */
  async execute({ id, status }: { readonly id: string; readonly status: WebhookStatus }): Promise<Webhook> {
    const { webhooks, clock } = this.ports;
    const edit = { ...(await findOwn(this.ports, id)), change: { status } };
    return webhooks.change(edit, (state) => decideWebhookChange(state, edit, clock.now()));
  }
}

export class DeleteAnyWebhook {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks' | 'clock'>) {}

  /** @throws DomainError `not_found` */
  async execute({ id }: { readonly id: string }): Promise<void> {
    const own = await findOwn(this.ports, id);
    await this.ports.webhooks.delete(own, (state) => {
      decideWebhookDeletion(state, own, this.ports.clock.now());
    });
  }
}

/** Counts webhooks by the encryption keys of their secrets. */
export class CountWebhookSecrets {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks'>) {}

  async execute(): Promise<SecretCounts> {
    return this.ports.webhooks.countSecrets();
  }
}

async function findOwn({ webhooks }: Pick<WebhookPorts, 'webhooks'>, id: string): Promise<WebhookCommand> {
  const accountId = await webhooks.findOwner(id as WebhookId);
  if (accountId === undefined) throw new DomainError(kernelErrors.not_found, `no webhook has the id ${id}`);
  return { accountId, id, actor: 'operator' };
}
