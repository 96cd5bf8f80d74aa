import type { DomainToAscii } from '../../kernel/domain-names.js';
import { checkAll, invalid } from '../../kernel/errors.js';
import type { AccountId, Account } from '../account.js';
import { canonicalAddress, emailAddress } from '../address.js';
import { requireRight } from './password.js';
import { isPassword } from './password-hasher.js';
import type { HolderPorts } from './ports.js';
import { type LinkMailPorts, queueLinkMail, requireMail } from '../mails/queue-link-mail.js';
import { isUsable, newAccountMailId } from '../mails/account-mail.js';
import { type Confirmer, decideAddressChange, type MailedLink, type Person, requireOwnLink } from './credentials.js';

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

export interface ChangeAddressInput {
  readonly token: string;
  /** Whoever is signed in. */
  readonly person?: Person | undefined;
  /** The password of the token's account. It is needed only if nobody is signed in. */
  readonly password: string;
}

export class ChangeAddress {
  constructor(private readonly ports: Pick<HolderPorts, 'clock' | 'credentials' | 'cryptography' | 'passwordHasher'>) {}

  /**
   * Gives the token's account the address to which the token was mailed, and tells the former address by mail, if it was
   * proven. Sessions, keys and the password stay. Undefined if the token is unknown, used or expired.
   *
   * @throws SignedOut; DomainError `invalid_parameter` if the password is wrong, or another account is signed in;
   * `email_taken` if an account with the new address was opened meanwhile. The token stays usable.
   */
  async execute({ token, person, password }: ChangeAddressInput): Promise<Account | undefined> {
    const { clock, credentials, cryptography } = this.ports;
    const tokenHash = cryptography.sha256(token);
    const found = await credentials.findLink('change', tokenHash);
    if (found === undefined || !isUsable(found, clock.now())) return undefined;
    const confirmer = await this.confirmerOf(found, person, password);
    const command = { noticeId: newAccountMailId(cryptography), confirmer };
    const now = clock.now();
    return credentials.useLink('change', tokenHash, (link) => decideAddressChange(link, command, now));
  }

  /** The account of the token. Undefined if the token is unknown or used. */
  async findAccount({ token }: Pick<ChangeAddressInput, 'token'>): Promise<AccountId | undefined> {
    const found = await this.ports.credentials.findLink('change', this.ports.cryptography.sha256(token));
    return found?.credentials.account.id;
  }

  private async confirmerOf(link: MailedLink, person: Person | undefined, password: string): Promise<Confirmer> {
    if (person !== undefined) {
      requireOwnLink(link, person);
      return { person };
    }
    const { passwordHash } = link.credentials;
    requireRight(await isPassword(this.ports.passwordHasher, password, passwordHash), 'password');
    return { current: passwordHash ?? '' };
  }
}
