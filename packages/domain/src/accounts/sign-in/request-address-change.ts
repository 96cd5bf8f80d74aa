import type { DomainToAscii } from '../../kernel/domain-names.js';
import { checkAll, invalid } from '../../kernel/errors.js';
import type { AccountId } from '../account.js';
import { canonicalAddress, emailAddress } from '../address.js';
import { requireRight } from './password.js';
import { isPassword } from './password-hasher.js';
import type { HolderPorts } from './ports.js';
import { type LinkMailPorts, queueLinkMail, requireMail } from '../mails/queue-link-mail.js';

export interface RequestAddressChangeInput {
  readonly accountId: AccountId;
  /** The new address. */
  readonly email: string;
  readonly password: string;
}

export class RequestAddressChange {
  constructor(
    private readonly ports: LinkMailPorts & Pick<HolderPorts, 'credentials' | 'deployment' | 'passwordHasher'>,
  ) {}

  /**
   * Queues a mail to the new address, whose link gives the account that address once, within an hour. The result
   * doesn't tell whether the address has an account already. False, and no mail, if the account has `MOST_LINKS` usable
   * links, or the address has got too many.
   *
   * @throws SignedOut; DomainError `invalid_parameter` if the address or the password is wrong, or both;
   * `service_unavailable` if mail isn't configured.
   */
  async execute({ accountId, ...input }: RequestAddressChangeInput): Promise<boolean> {
    await requireMail(this.ports);
    const found = await this.ports.credentials.findById(accountId);
    const isRight = await isPassword(this.ports.passwordHasher, input.password, found?.passwordHash);
    const { address } = checkAll({
      address: () => anotherAddress(input.email, found?.account.email, this.ports.domainToAscii),
      password: () => {
        requireRight(isRight, 'password');
      },
    });
    // The owner may reset the password while the former one is being checked. Then whoever typed it must get no link.
    const version = found?.account.credentialVersion;
    return queueLinkMail(this.ports, { accountId, kind: 'change', address }, address, version);
  }
}

function anotherAddress(text: string, present: string | undefined, toAscii: DomainToAscii): string {
  const address = emailAddress(text, toAscii);
  if (present !== undefined && address === canonicalAddress(present, toAscii))
    throw invalid('email', 'must not be your present address');
  return address;
}
