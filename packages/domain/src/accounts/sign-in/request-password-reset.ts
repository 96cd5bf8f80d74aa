import { readTypedAddress } from '../address.js';
import type { HolderPorts } from './ports.js';
import { type LinkMailPorts, queueLinkMail, requireMail } from '../mails/queue-link-mail.js';

export class RequestPasswordReset {
  constructor(private readonly ports: LinkMailPorts & Pick<HolderPorts, 'credentials' | 'deployment'>) {}

  /**
   * Queues a mail whose link sets a password once, within an hour, to the account of that address, also if the operator
   * opened it and it has no password yet. The result doesn't tell whether there is such an account.
   *
   * @throws DomainError `service_unavailable` if mail isn't configured.
   */
  async execute(input: { readonly email: string }): Promise<void> {
    await requireMail(this.ports);
    const email = readTypedAddress(input.email);
    const found = email === undefined ? undefined : await this.ports.credentials.findByEmail(email);
    if (found === undefined) return;
    const { id: accountId, email: recipient } = found.account;
    await queueLinkMail(this.ports, { accountId, kind: 'reset' }, recipient);
  }
}
