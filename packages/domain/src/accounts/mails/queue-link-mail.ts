import { DomainError } from '../../kernel/errors.js';
import { canonicalAddress } from '../address.js';
import type { AccountPorts } from '../ports.js';
import { decideLinkMail, decideMailTo, MOST_LINKS, newLinkMail, type NewLinkMail } from './account-mail.js';
import type { AccountMailPorts } from './ports.js';

export type LinkMailPorts = Pick<
  AccountMailPorts,
  'accountMails' | 'attempts' | 'clock' | 'cryptography' | 'domainToAscii'
>;

/**
 * Queues a mail with a link to that address. Resolves to false, and queues none, if the account has `MOST_LINKS` usable
 * links, or the address has got too many mails of that kind (`decideMailTo`).
 *
 * @param credentialVersion that the account must still have. Default: any.
 * @throws SignedOut
 */
export async function queueLinkMail(
  { accountMails, attempts, clock, cryptography, domainToAscii }: LinkMailPorts,
  link: Pick<NewLinkMail, 'accountId' | 'kind' | 'address'>,
  email: string,
  credentialVersion?: number,
): Promise<boolean> {
  const recipient = cryptography.sha256(`${link.kind} mail to ${canonicalAddress(email, domainToAscii)}`);
  if ((await attempts.count(recipient, decideMailTo)).until !== undefined) return false;
  const mail = newLinkMail(link, clock.now(), cryptography);
  let isQueued = false;
  try {
    isQueued = await accountMails.add(mail, (state) => decideLinkMail(state, { most: MOST_LINKS, credentialVersion }));
  } finally {
    if (!isQueued) await attempts.refund(recipient);
  }
  return isQueued;
}

/** @throws DomainError `service_unavailable` if no worker can send mail. */
export async function requireMail({ deployment }: Pick<AccountPorts, 'deployment'>): Promise<void> {
  if ((await deployment.portalUrl()) === undefined)
    throw new DomainError('service_unavailable', 'no mail can be sent here');
}
