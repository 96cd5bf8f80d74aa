import { DomainError, kernelErrors } from '../../kernel/errors.js';
import { canonicalAddress } from '../address.js';
import type { AttemptCounter, AttemptDecision, AttemptState } from '../attempt-counter.js';
import { sendsMail } from '../deployment.js';
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
  return queueCounted(attempts, recipient, decideMailTo, () => {
    const mail = newLinkMail(link, clock.now(), cryptography);
    return accountMails.add(mail, (state) => decideLinkMail(state, { most: MOST_LINKS, credentialVersion }));
  });
}

/**
 * Queues a mail if `decide` lets it count for its recipient. Resolves to whether it is queued; if not, it isn't
 * counted.
 *
 * @param recipientHash as `AttemptCounter` takes it.
 */
export async function queueCounted(
  attempts: AttemptCounter,
  recipientHash: string,
  decide: (state: AttemptState) => AttemptDecision,
  queue: () => Promise<boolean>,
): Promise<boolean> {
  if ((await attempts.count(recipientHash, decide)).until !== undefined) return false;
  let isQueued = false;
  try {
    isQueued = await queue();
  } finally {
    if (!isQueued) await attempts.refund(recipientHash);
  }
  return isQueued;
}

/** @throws DomainError `service_unavailable` if no worker can send mail. */
export async function requireMail({ deployment }: Pick<AccountPorts, 'deployment'>): Promise<void> {
  if (!(await sendsMail({ deployment })))
    throw new DomainError(kernelErrors.service_unavailable, 'no mail can be sent here');
}
