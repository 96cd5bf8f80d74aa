import { type Account, isProven } from '../account.js';
import type { HolderOptions } from '../ports.js';
import { type LinkMailPorts, queueLinkMail } from '../mails/queue-link-mail.js';

export class RequestAddressProof {
  constructor(
    private readonly ports: LinkMailPorts,
    private readonly options: Pick<HolderOptions, 'accountMailPages'>,
  ) {}

  /**
   * Queues a mail whose link proves the account's address once, within a day. False, and no mail, if mail isn't
   * configured, the address is proven already, the account has `MOST_LINKS` usable links, or the
   * address has got too many.
   */
  async execute(account: Account): Promise<boolean> {
    const page = this.options.accountMailPages?.proof;
    if (page === undefined || isProven(account)) return false;
    return queueLinkMail(this.ports, { accountId: account.id, kind: 'proof', page }, account.email);
  }
}
