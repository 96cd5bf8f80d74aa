import type { Account, AccountId } from '../account.js';
import { isUsable, newAccountMailId } from '../mails/account-mail.js';
import { type Confirmer, decideAddressChange, type MailedLink, type Person, requireOwnLink } from './credentials.js';
import { requireRight } from './password.js';
import { isPassword } from './password-hasher.js';
import type { HolderPorts } from './ports.js';

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
