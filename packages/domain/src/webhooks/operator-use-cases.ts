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

export class DisableAnyWebhook {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks' | 'clock'>) {}

  /** @throws DomainError `not_found` */
  async execute({ id }: { readonly id: string }): Promise<Webhook> {
    return switchAny(this.ports, id, 'disabled');
  }
}

export class EnableAnyWebhook {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks' | 'clock'>) {}

  /** @throws DomainError `not_found` */
  async execute({ id }: { readonly id: string }): Promise<Webhook> {
    return switchAny(this.ports, id, 'enabled');
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

async function switchAny(ports: Pick<WebhookPorts, 'webhooks' | 'clock'>, id: string, status: WebhookStatus) {
  const own = await findOwn(ports, id);
  return ports.webhooks.change(own, (state) =>
    decideWebhookChange(state, { ...own, change: { status } }, ports.clock.now()),
  );
}

async function findOwn({ webhooks }: Pick<WebhookPorts, 'webhooks'>, id: string): Promise<WebhookCommand> {
  const accountId = await webhooks.findOwner(id as WebhookId);
  if (accountId === undefined) throw new DomainError(kernelErrors.not_found, `no webhook has the id ${id}`);
  return { accountId, id, actor: 'operator' };
}
