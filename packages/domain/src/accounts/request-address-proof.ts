import { type Account, isProven } from './account.js';
import type { HolderOptions, HolderPorts } from './ports.js';
import { queueLinkMail } from './queue-link-mail.js';

export class RequestAddressProof {
  constructor(
    private readonly ports: Pick<HolderPorts, 'accountMails' | 'cryptography' | 'clock'>,
    private readonly options: Pick<HolderOptions, 'accountMailPages'>,
  ) {}

  /**
   * Queues a mail whose link proves the account's address once, within a day. False, and no mail, if mail isn't
   * configured, the address is proven already, or the account has `MOST_LINKS` usable links.
   */
  async execute(account: Account): Promise<boolean> {
    const page = this.options.accountMailPages?.proof;
    if (page === undefined || isProven(account)) return false;
    return queueLinkMail(this.ports, { accountId: account.id, kind: 'proof', page });
  }
}
