import type { AccountMail, AccountMailSender } from '../accounts/mails/account-mail-sender.js';

/** Delivers into a list, unless `failure` is set. */
export class InMemoryAccountMailSender implements AccountMailSender {
  readonly delivered: AccountMail[] = [];
  /** If set, `send` throws this. */
  failure: Error | undefined;

  get resets(): readonly AccountMail[] {
    return this.delivered.filter(({ kind }) => kind === 'reset');
  }

  get signUps(): readonly AccountMail[] {
    return this.delivered.filter(({ kind }) => kind === 'sign-up');
  }

  /** The mails of that kind to an address. */
  to(email: string, kind: AccountMail['kind']): readonly AccountMail[] {
    return this.delivered.filter((mail) => mail.email === email && mail.kind === kind);
  }

  async send(mail: AccountMail): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    this.delivered.push(mail);
  }
}
