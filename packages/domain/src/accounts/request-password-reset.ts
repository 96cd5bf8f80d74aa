import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { DomainError } from '../kernel/errors.js';
import { readEmailAddress } from './account.js';
import { decideLinkMail, MOST_LINKS, newLinkMail } from './account-mail.js';
import type { AccountMailQueue } from './account-mail-queue.js';
import type { CredentialRepository } from './credential-repository.js';

export class RequestPasswordReset {
  /** @param page the page that the link opens; undefined if mail is not configured. */
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly mails: AccountMailQueue,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
    private readonly page: string | undefined,
  ) {}

  /** Whether mail can be sent. */
  get isAvailable(): boolean {
    return this.page !== undefined;
  }

  /**
   * Queues a mail whose link sets a password once, within an hour, to the account of that address, also if the operator
   * opened it and it has no password yet. The result doesn't tell whether there is such an account.
   *
   * @throws DomainError `service_unavailable` if mail isn't configured.
   */
  async execute(input: { readonly email: string }): Promise<void> {
    if (this.page === undefined) throw new DomainError('service_unavailable', 'no mail can be sent here');
    const email = readEmailAddress(input.email);
    const found = email === undefined ? undefined : await this.credentials.findByEmail(email);
    if (found === undefined) return;
    const about = { accountId: found.account.id, kind: 'reset', page: this.page } as const;
    const mail = newLinkMail(about, this.clock.now(), this.cryptography);
    await this.mails.add(mail, (state) => decideLinkMail(state, MOST_LINKS));
  }
}
