import { testPolicy } from '../../testing/in-memory-application.js';
import { describe, expect, it } from '@jest/globals';
import { createApplication } from '../../application.js';
import { DAY, HOUR, instant, later } from '../../kernel/clock.js';
import { decisions, inMemoryPorts } from '../../testing/index.js';
import type { AccountId } from '../account.js';
import type { AccountMailId, NewAccountMail } from './account-mail.js';
import type { AccountMail } from './account-mail-sender.js';
import { decideNotice, nameOfKey, NOTICE_TTL } from './notice.js';

const EMAIL = 'dev@example.com';
const PASSWORD = 'a horse, a battery';
const OTHER = 'a staple, correctly';

describe('whether an owner is told at once', () => {
  const NOW = instant(Date.UTC(2026, 0, 1));
  const id = 'mail_1' as AccountMailId;
  const times = { createdAt: NOW, expiresAt: later(NOW, NOTICE_TTL) };
  const key: NewAccountMail = { id, accountId: 7n as AccountId, kind: 'key', address: EMAIL, ...times };
  const closed: NewAccountMail = { ...key, kind: 'closed' };
  const changed: NewAccountMail = { ...key, kind: 'changed' };
  const inAnHour = { createdAt: later(NOW, HOUR), expiresAt: later(NOW, HOUR + NOTICE_TTL), wait: HOUR };
  const first = { ...key, kind: 'more', about: '1', ...inAnHour } as const;
  const more = { id: 'mail_2' as AccountMailId, about: '6' };
  const given = decisions({ it, expect }, decideNotice);
  given('four mails within an hour', { recent: 4, more: undefined })
    .when('a key is made', key)
    .then('it is told', { added: key });
  given('five', { recent: 5, more: undefined })
    .when('a key is made', key)
    .then('a mail waits for more', { added: first });
  given('five, and one that waits', { recent: 5, more })
    .when('a key is made', key)
    .then('that one counts it', { raised: { ...more, about: '7' } });
  given('one that waits, and an hour that is over', { recent: 0, more })
    .when('a key is made', key)
    .then('it is told', { added: key });
  for (const [what, mail] of [
    ['is closed', closed],
    ['has another address', changed],
  ] as const)
    given('five, and one that waits', { recent: 5, more })
      .when(`the account ${what}`, mail)
      .then('it is told', { added: mail });
});

it.each([
  ['laptop', '“laptop”, which ends in wxyz'],
  [undefined, 'the key that ends in wxyz'],
  ['Dr. No', '“Dr. No”, which ends in wxyz'],
  ['https://evil.example', String.raw`“https\u{3A}\u{2F}\u{2F}evil\u{2E}example”, which ends in wxyz`],
  ['a@b\u3002c', String.raw`“a\u{40}b\u{3002}c”, which ends in wxyz`],
  ['x” was revoked. “', String.raw`“x\u{201D} was revoked. \u{201C}”, which ends in wxyz`],
  ['\u202etxt', String.raw`“\u{202E}txt”, which ends in wxyz`],
  ['🐈'.repeat(100), `“${'🐈'.repeat(50)}…”, which ends in wxyz`],
])('a key %j is named so that nothing in its name acts in a mail program', (name, shown) => {
  expect(nameOfKey({ name, ending: 'wxyz' })).toBe(shown);
});

describe('the owner of an account', () => {
  /** A store with an account whose address is proven. */
  async function openAccount() {
    const ports = inMemoryPorts();
    const application = createApplication(ports, testPolicy(), { opensUnproven: true, delivery: { batch: 100 } });
    const { accountMailSender: sender, clock } = ports;
    const { id: accountId } = await application.signUp.execute({ email: EMAIL, password: PASSWORD });
    await application.recordPortal.execute('https://portal.example.com');
    const provenAt = clock.now();
    await ports.credentials.change(
      accountId,
      (state) => state && { credentials: { ...state, account: { ...state.account, provenAt } } },
    );
    const issue = async (name?: string) => application.issueKey.execute({ accountId, name });
    const deliver = async (): Promise<readonly AccountMail[]> => {
      const before = sender.delivered.length;
      await application.deliverAccountMails.execute();
      return sender.delivered.slice(before);
    };
    return { ...application, ports, sender, clock, accountId, issue, deliver };
  }

  it('is told what happened and when, at the address that was proven then, and after the account is closed, too', async () => {
    const { accountId, issue, deliver, clock, ...store } = await openAccount();
    const createdAt = clock.now();
    const changePassword = { accountId, current: PASSWORD, next: OTHER };
    expect(await store.changePassword.execute(changePassword)).toBeDefined();
    const { key } = await issue('laptop');
    const { key: rotated } = await store.rotateKey.execute({ id: key.id });
    expect(await store.closeAccount.execute({ accountId, password: OTHER })).toBe(true);
    const [password, made, other, closed, ...rest] = await deliver();
    expect(rest).toEqual([]);
    const told = { email: EMAIL, token: undefined, createdAt, expiresAt: later(createdAt, 2 * DAY) };
    expect(password).toEqual({ ...told, kind: 'password' });
    expect(made).toEqual({ ...told, kind: 'key', about: nameOfKey(key) });
    expect(other).toEqual({ ...told, kind: 'rotated', about: nameOfKey(rotated) });
    expect(closed).toEqual({ ...told, kind: 'closed' });
  });

  it('is told at the former address what was done before it changed', async () => {
    const { accountId, issue, deliver, sender, clock, changeAddress, requestAddressChange } = await openAccount();
    const email = 'new@example.com';
    await requestAddressChange.execute({ accountId, email, password: PASSWORD });
    await deliver();
    const [link] = sender.to(email, 'change');
    for (let made = 0; made < 7; made += 1) await issue();
    await changeAddress.execute({ token: link?.token ?? '', password: PASSWORD });
    await issue('afterwards');
    const mails = await deliver();
    const kindsTo = (address: string) => mails.filter((mail) => mail.email === address).map(({ kind }) => kind);
    expect(kindsTo(EMAIL)).toEqual(['key', 'key', 'key', 'key', 'key', 'changed']);
    expect(kindsTo(email)).toEqual(['key']);
    clock.advance(HOUR);
    expect(await deliver()).toMatchObject([{ email: EMAIL, kind: 'more', about: '2' }]);
  });
});
