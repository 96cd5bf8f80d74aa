import type { PasswordMailer } from '../../accounts/password-mailer.js';
import { HOUR, later } from '../../kernel/clock.js';
import { NOON, Unique } from './fixtures.js';
import type { TestFramework } from './framework.js';

/** A mail as its reader finds it. */
export interface ReceivedPasswordMail {
  readonly email: string;
  readonly kind: 'reset' | 'proof';
  readonly token: string;
}

export interface OpenedPasswordMailer {
  readonly mailer: PasswordMailer;
  /** All mails that have arrived, of any address. */
  received(): readonly ReceivedPasswordMail[];
  /** Whether mails get lost from now on. */
  loseMails(areLost: boolean): void;
  close(): Promise<void>;
}

/** The guarantees of every `PasswordMailer`. */
export function passwordMailerSuite(
  framework: TestFramework,
  name: string,
  open: () => Promise<OpenedPasswordMailer>,
): void {
  const { describe, it, beforeAll, afterAll, expect, until } = framework;
  describe(`a password mailer (${name})`, () => {
    const unique = new Unique();
    let opened: OpenedPasswordMailer;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    const newMail = () => ({ email: unique.email(), token: unique.hash(), expiresAt: later(NOON, HOUR) });
    const receivedWith = (token: string) => opened.received().filter((mail) => mail.token === token);

    it('sends a token that resets a password to its address alone', async () => {
      const { email, token, expiresAt } = newMail();
      opened.mailer.send({ email, token, expiresAt });
      await until(() => receivedWith(token).length > 0);
      expect(receivedWith(token)).toEqual([{ email, kind: 'reset', token }]);
    });

    it('sends a token that proves an address to that address alone', async () => {
      const { email, token, expiresAt } = newMail();
      opened.mailer.sendProof({ email, token, expiresAt });
      await until(() => receivedWith(token).length > 0);
      expect(receivedWith(token)).toEqual([{ email, kind: 'proof', token }]);
    });

    it('tells the caller nothing of a mail that is lost, and sends the next', async () => {
      opened.loseMails(true);
      opened.mailer.send(newMail());
      opened.mailer.sendProof(newMail());
      opened.loseMails(false);
      const next = newMail();
      opened.mailer.send(next);
      await until(() => receivedWith(next.token).length > 0);
      expect(receivedWith(next.token)).toHaveLength(1);
    });
  });
}
