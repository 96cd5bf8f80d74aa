import type { Clock } from '../kernel/clock.js';
import type { Cryptography } from '../kernel/cryptography.js';
import { checkAll, DomainError, invalid } from '../kernel/errors.js';
import { type AccountId, emailAddress } from './account.js';
import { decideLinkMail, MOST_LINKS, newLinkMail } from './account-mail.js';
import type { AccountMailQueue } from './account-mail-queue.js';
import type { CredentialRepository } from './credential-repository.js';
import { requireRight } from './password.js';
import { isPassword, type PasswordHasher } from './password-hasher.js';

export interface RequestAddressChangeInput {
  readonly accountId: AccountId;
  /** The new address. */
  readonly email: string;
  readonly password: string;
}

export class RequestAddressChange {
  /** @param page the page that the link opens; undefined if mail is not configured. */
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly mails: AccountMailQueue,
    private readonly hasher: PasswordHasher,
    private readonly cryptography: Cryptography,
    private readonly clock: Clock,
    private readonly page: string | undefined,
  ) {}

  /**
   * Queues a mail to the new address, whose link gives the account that address once, within an hour. The result doesn't
   * tell whether the address has an account already. False, and no mail, if the account has `MOST_LINKS` usable
   * links.
   *
   * @throws DomainError `invalid_parameter` if the address or the password is wrong, or both; `service_unavailable` if mail isn't configured.
   */
  async execute({ accountId, ...input }: RequestAddressChangeInput): Promise<boolean> {
    if (this.page === undefined) throw new DomainError('service_unavailable', 'no mail can be sent here');
    const found = await this.credentials.findById(accountId);
    const isRight = await isPassword(this.hasher, input.password, found?.passwordHash);
    const { address } = checkAll({
      address: () => anotherAddress(input.email, found?.account.email),
      password: () => {
        requireRight(isRight, 'password');
      },
    });
    const about = { accountId, kind: 'change', page: this.page, address } as const;
    const mail = newLinkMail(about, this.clock.now(), this.cryptography);
    return this.mails.add(mail, (state) => decideLinkMail(state, MOST_LINKS));
  }
}

function anotherAddress(text: string, present: string | undefined): string {
  const address = emailAddress(text);
  if (address === present) throw invalid('email', 'must not be your present address');
  return address;
}
