import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { type Account, isProven } from './account.js';
import { decideLinkMail, MOST_LINKS, newLinkMail } from './account-mail.js';
import type { AccountMailQueue } from './account-mail-queue.js';

export class RequestAddressProof {
  /** @param page the page that the link opens; undefined if mail is not configured. */
  constructor(
    private readonly mails: AccountMailQueue,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
    private readonly page: string | undefined,
  ) {}

  /**
   * Queues a mail whose link proves the account's address once, within a day. False, and no mail, if mail isn't
   * configured, the address is proven already, or the account has `MOST_LINKS` usable links.
   */
  async execute(account: Account): Promise<boolean> {
    if (this.page === undefined || isProven(account)) return false;
    const about = { accountId: account.id, kind: 'proof', page: this.page } as const;
    const mail = newLinkMail(about, this.clock.now(), this.cryptography);
    return this.mails.add(mail, (state) => decideLinkMail(state, MOST_LINKS));
  }
}
