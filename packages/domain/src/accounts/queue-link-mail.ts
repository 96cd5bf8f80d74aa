import { decideLinkMail, MOST_LINKS, newLinkMail, type NewLinkMail } from './account-mail.js';
import type { HolderPorts } from './ports.js';

/** Queues a mail with a link. Resolves to false, and queues none, if the account has `MOST_LINKS` usable links. */
export async function queueLinkMail(
  { accountMails, clock, cryptography }: Pick<HolderPorts, 'accountMails' | 'clock' | 'cryptography'>,
  about: Pick<NewLinkMail, 'accountId' | 'kind' | 'page' | 'address'>,
): Promise<boolean> {
  const mail = newLinkMail(about, clock.now(), cryptography);
  return accountMails.add(mail, (state) => decideLinkMail(state, MOST_LINKS));
}
