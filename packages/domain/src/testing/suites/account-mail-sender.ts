import { LINK_KINDS } from '../../accounts/mails/account-mail.js';
import type { AccountMail, AccountMailSender } from '../../accounts/mails/account-mail-sender.js';
import { HOUR, later, SECOND } from '../../kernel/clock.js';
import { NOON, openBefore, race, Unique } from './fixtures.js';
import type { TestFramework } from './framework.js';

/** A mail as its reader finds it. */
type ReceivedAccountMail = Pick<AccountMail, 'email' | 'kind' | 'token'>;

export interface OpenedAccountMailSender {
  readonly sender: AccountMailSender;
  /** All mails that have arrived, of any address. */
  received(): readonly ReceivedAccountMail[];
  /** Whether mails are refused from now on. */
  refuseMails(areRefused: boolean): void;
  close(): Promise<void>;
}

const TIMEOUT = 5 * SECOND;

/** The guarantees of every `AccountMailSender`. */
export function accountMailSenderSuite(
  framework: TestFramework,
  name: string,
  open: () => Promise<OpenedAccountMailSender>,
): void {
  const { describe, it, expect } = framework;
  describe(`an account mail sender (${name})`, () => {
    const unique = new Unique();
    let opened: OpenedAccountMailSender;
    openBefore(framework, open, (adapters) => {
      opened = adapters;
    });

    const newMail = (kind: AccountMail['kind']): AccountMail & { readonly token: string } => ({
      kind,
      email: unique.email(),
      token: unique.hash(),
      createdAt: NOON,
      expiresAt: later(NOON, HOUR),
    });
    const receivedWith = (token: string) => opened.received().filter((mail) => mail.token === token);

    it('has sent a mail without a link to its address alone once it resolves', async () => {
      const mail: AccountMail = { ...newMail('changed'), token: undefined };
      await opened.sender.send(mail, TIMEOUT);
      const received = opened.received().filter(({ email }) => email === mail.email);
      expect(received).toEqual([{ email: mail.email, kind: 'changed', token: undefined }]);
    });

    for (const kind of [...LINK_KINDS, 'sign-up'] as const)
      it(`has sent the token of a ${kind} to its address alone once it resolves`, async () => {
        const mail = newMail(kind);
        await opened.sender.send(mail, TIMEOUT);
        expect(receivedWith(mail.token)).toEqual([{ email: mail.email, kind, token: mail.token }]);
      });

    it('rejects if the mail is refused, names neither address nor token, and sends the next', async () => {
      const mail = newMail('reset');
      opened.refuseMails(true);
      const { reasons } = await race(1, () => opened.sender.send(mail, TIMEOUT));
      expect(reasons).toHaveLength(1);
      for (const secret of [mail.email, mail.token]) expect(String(reasons[0])).not.toContain(secret);
      opened.refuseMails(false);
      await opened.sender.send(mail, TIMEOUT);
      expect(receivedWith(mail.token)).toHaveLength(1);
    });
  });
}
