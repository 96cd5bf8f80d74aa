import { testPolicy } from '../../testing/in-memory-application.js';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { createApplication } from '../../application.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, SECOND } from '../../kernel/clock.js';
import { inMemoryPorts } from '../../testing/index.js';
import { type AccountMailId, decideMailTo, LINK_TTL, MOST_LINKS, SIGN_UP_TTL } from './account-mail.js';
import type { AccountMailReport } from './deliver-account-mails.js';
import type { AccountId } from '../account.js';
import { PLANS } from '../plan.js';

const [EMAIL, NEW] = ['dev@example.com', 'new@example.com'];
const PASSWORD = 'a horse, a battery';
const OTHER = 'a staple, correctly';

/** A store without an account, whose worker can't send mail yet. */
function openStore() {
  const ports = inMemoryPorts();
  const application = createApplication(ports, testPolicy(), { opensUnproven: true, delivery: { batch: 10 } });
  const { accountMailSender: sender, clock } = ports;
  const signUp = (email = EMAIL) => application.signUp.execute({ email, password: PASSWORD });
  const signIn = (password = PASSWORD, email = EMAIL) => application.signIn.execute({ email, password });
  const deliver = async () => {
    const deliveries: AccountMailReport[] = [];
    await application.deliverAccountMails.execute({ onAttempt: (delivery) => deliveries.push(delivery) });
    return deliveries;
  };
  const requestReset = (email = EMAIL) => application.requestPasswordReset.execute({ email });
  const resetToken = async (email = EMAIL) => {
    await requestReset(email);
    await deliver();
    return sender.resets.at(-1)?.token ?? '';
  };
  const queued = async () => (await ports.accountMails.backlog()).queued;
  const sendMail = () => application.recordPortal.execute('https://portal.example.com');
  const requestSignUp = (email = EMAIL) => application.requestSignUp.execute({ email });
  const signUpToken = async (email = EMAIL) => {
    await requestSignUp(email);
    await deliver();
    return sender.signUps.at(-1)?.token ?? '';
  };
  const completeSignUp = (token: string, password = PASSWORD) =>
    application.completeSignUp.execute({ token, password });
  const mails = { deliver, requestReset, resetToken, queued, sendMail, requestSignUp, signUpToken, completeSignUp };
  return { ...application, ports, clock, sender, signUp, signIn, ...mails };
}

/** A store that sends mails, with an account that signed up before it did. */
async function openAccount() {
  const store = openStore();
  const account = await store.signUp();
  await store.sendMail();
  const requestChange = (email = NEW, password = PASSWORD) =>
    store.requestAddressChange.execute({ accountId: account.id, email, password });
  const changeToken = async () => {
    await requestChange();
    await store.deliver();
    return store.sender.to(NEW, 'change').at(-1)?.token ?? '';
  };
  return { ...store, account, requestChange, changeToken };
}

describe('a mail to an account', () => {
  it('is tried again with another token, and the links of all that arrive work', async () => {
    const { requestReset, deliver, sender, clock, resetPassword } = await openAccount();
    await requestReset();
    const sending = jest.spyOn(sender, 'send').mockRejectedValueOnce(new Error('the answer was lost'));
    expect(await deliver()).toMatchObject([{ attempt: 1, outcome: 'postponed' }]);
    expect(await deliver()).toEqual([]);
    clock.advance(5 * SECOND);
    expect(await deliver()).toMatchObject([{ attempt: 2, outcome: 'sent' }]);
    const [lost = '', arrived] = sending.mock.calls.map(([mail]) => mail.token);
    expect(arrived).not.toBe(lost);
    expect(await resetPassword.execute({ token: lost, password: OTHER })).toBeDefined();
  });

  it('is tried until its link expires, and its last attempt is reported as its failure', async () => {
    const { requestReset, deliver, sender, clock, ports, account } = await openAccount();
    await deliver();
    sender.failure = new Error('the mail server is away');
    await requestReset();
    const outcomes: string[] = [];
    for (let waited = 0; waited < LINK_TTL; waited += SECOND) {
      outcomes.push(...(await deliver()).map(({ outcome }) => outcome));
      clock.advance(SECOND);
    }
    expect(outcomes.at(-1)).toBe('failed');
    expect(new Set(outcomes.slice(0, -1))).toEqual(new Set(['postponed']));
    // A mail that is kept longer is tried more often than a message.
    const [createdAt, expiresAt] = [clock.now(), later(clock.now(), 2 * DAY)];
    const id = 'mail_notice' as AccountMailId;
    const notice = { id, accountId: account.id, kind: 'changed', createdAt, expiresAt } as const;
    await ports.credentials.change(account.id, (credentials) => credentials && { credentials, notice });
    let attempts = 0;
    for (let waited = 0; waited < 2 * DAY; waited += MINUTE) {
      attempts += (await deliver()).length;
      clock.advance(MINUTE);
    }
    expect(attempts).toBeGreaterThan(16);
    expect((await ports.accountMails.backlog()).queued).toBe(0);
  });

  it('is dropped once its link has expired', async () => {
    const { requestReset, deliver, sender, clock, deliverAccountMails } = await openAccount();
    await requestReset();
    clock.advance(LINK_TTL);
    expect(await deliver()).toMatchObject([{ kind: 'reset', attempt: 1, outcome: 'dropped' }]);
    expect(sender.delivered).toEqual([]);
    expect(await deliverAccountMails.backlog()).toEqual({ queued: 0, oldest: undefined });
  });
});

describe('an account that begins with a mail', () => {
  /** A store that sends mails, without an account. */
  async function openMailing() {
    const store = openStore();
    await store.sendMail();
    return store;
  }

  it('exists once the mailed link was followed, with a proven address, and not before', async () => {
    const { requestSignUp, deliver, sender, clock, signIn, listAccounts, ...store } = await openMailing();
    await requestSignUp('Dev@Example.com');
    expect(await deliver()).toMatchObject([{ kind: 'sign-up', attempt: 1, outcome: 'sent' }]);
    expect(await listAccounts.execute()).toEqual([]);
    const [mail] = sender.signUps;
    expect(mail).toMatchObject({ email: EMAIL, expiresAt: clock.now() + SIGN_UP_TTL });
    expect(mail?.token).toMatch(/^[0-9A-Za-z]{43}$/);
    const account = await store.completeSignUp(mail?.token ?? '');
    expect(account).toMatchObject({ email: EMAIL, plan: PLANS.free, provenAt: clock.now() });
    expect(await signIn()).toEqual(account);
  });

  it('does not begin with a refused password, which leaves the link, or after a day', async () => {
    const { signUpToken, completeSignUp, clock } = await openMailing();
    const token = await signUpToken();
    await expect(completeSignUp(token, 'short')).rejects.toMatchObject({ code: 'invalid_parameter' });
    clock.advance(SIGN_UP_TTL);
    expect(await completeSignUp(token)).toBeUndefined();
  });

  it('is not taken over by a link for its address, and a mail to it says that it exists', async () => {
    const {
      signUpToken,
      completeSignUp,
      openAccount: open,
      requestSignUp,
      deliver,
      sender,
      signIn,
      clock,
    } = await openMailing();
    const token = await signUpToken();
    await open.execute({ email: EMAIL });
    await expect(completeSignUp(token)).rejects.toMatchObject({ code: 'email_taken' });
    expect(await signIn()).toBeUndefined();
    clock.advance(1);
    await requestSignUp();
    expect(await deliver()).toMatchObject([{ kind: 'sign-up', outcome: 'sent' }]);
    expect(sender.to(EMAIL, 'has-account')).toMatchObject([{ token: undefined }]);
  });

  it('is mailed to three times a day at the most, with the same answer each time, however the address is written', async () => {
    const { requestSignUp, queued, clock } = await openMailing();
    for (const email of [EMAIL, EMAIL, EMAIL, 'DEV@Example.com']) await requestSignUp(email);
    expect(await queued()).toBe(3);
    clock.advance(DAY);
    await requestSignUp();
    expect(await queued()).toBe(4);
  });

  it('is asked for without a look-up of accounts', async () => {
    const { requestSignUp, ports } = await openMailing();
    const lookUps = [
      jest.spyOn(ports.credentials, 'findByEmail'),
      jest.spyOn(ports.accounts, 'findByEmail'),
      jest.spyOn(ports.accounts, 'findById'),
    ];
    await requestSignUp();
    for (const lookUp of lookUps) expect(lookUp).not.toHaveBeenCalled();
  });

  it('does not begin with a password alone, and without mail it begins by that or by a command alone', async () => {
    const { signUp, requestSignUp, getSignUp, sendMail, ports, listAccounts } = openStore();
    const unavailable = { code: 'service_unavailable' };
    expect(await getSignUp.execute()).toBe('password');
    await expect(requestSignUp()).rejects.toMatchObject(unavailable);
    const command = createApplication(ports, testPolicy());
    expect(await command.getSignUp.execute()).toBe('command');
    await expect(command.signUp.execute({ email: EMAIL, password: PASSWORD })).rejects.toMatchObject(unavailable);
    await sendMail();
    expect(await getSignUp.execute()).toBe('link');
    await expect(signUp()).rejects.toMatchObject(unavailable);
    expect(await listAccounts.execute()).toEqual([]);
  });
});

describe('an address', () => {
  it('is the same one however it is written, and is stored and mailed in one form', async () => {
    const { signUp, signIn, sendMail, requestReset, requestAddressChange, ports } = openStore();
    const [typed, other] = ['Zoe\u0308@b\u00adu\u0308cher\uff61example', 'ZO\u00cb@B\u00dcCHER.example'];
    const { id: accountId, email } = await signUp(typed);
    expect(email).toBe('zo\u00eb@xn--bcher-kva.example');
    await expect(signUp(other)).rejects.toMatchObject({ code: 'email_taken' });
    expect(await signIn(PASSWORD, other)).toMatchObject({ id: accountId });
    await sendMail();
    await requestReset(other);
    const change = { accountId, email: other, password: PASSWORD };
    await expect(requestAddressChange.execute(change)).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect((await ports.accountMails.claim({ limit: 9, lease: HOUR })).map((mail) => mail.email)).toEqual([email]);
  });

  it('from before addresses had one form finds its account, and gets its mails at the one form', async () => {
    const { ports, clock, sender, resetToken, resetPassword, signIn, signUp, ...store } = openStore();
    const old = '"dev"@b\u3002example';
    const opened = { email: old, plan: PLANS.free, scopes: undefined, createdAt: clock.now() };
    const { id } = await ports.accounts.open(opened);
    await expect(signUp('dev@b.example')).rejects.toMatchObject({ code: 'email_taken' });
    await store.sendMail();
    await resetPassword.execute({ token: await resetToken(old), password: PASSWORD });
    expect(sender.to('dev@b.example', 'reset')).toHaveLength(1);
    for (const email of [old, 'DEV@b.example']) {
      expect(await signIn(PASSWORD, email)).toMatchObject({ id, email: old });
      expect(await store.openAccount.execute({ email })).toMatchObject({ id });
      expect(await store.changePlan.execute({ email, plan: PLANS.pro })).toMatchObject({ id });
    }
  });
});

describe('the mails to one address', () => {
  it('are five of a kind in an hour and then one an hour, whoever revokes the links that they have', async () => {
    const { account, resetToken, resetPassword, changePassword, requestReset, clock, deliver } = await openAccount();
    await resetPassword.execute({ token: await resetToken(), password: PASSWORD });
    const attack = async (times: number) => {
      for (let done = 0; done < times; done += 1) {
        const [current, next] = done % 2 === 0 ? [PASSWORD, OTHER] : [OTHER, PASSWORD];
        await requestReset();
        await changePassword.execute({ accountId: account.id, current, next });
      }
      return [...(await deliver()), ...(await deliver())].filter(({ kind }) => kind === 'reset').length;
    };
    expect(await attack(6)).toBe(4);
    clock.advance(HOUR);
    expect(await attack(2)).toBe(1);
  });

  it('are counted for each kind alone', async () => {
    const { requestReset, requestChange, queued, clock } = await openAccount();
    for (let times = 0; times < 5; times += 1) {
      await requestReset();
      clock.advance(HOUR / 3);
    }
    const before = await queued();
    expect(await requestChange(EMAIL.replace('dev', 'other'))).toBe(true);
    expect(await queued()).toBe(before + 1);
  });

  it('leave its owner a link that resets the password, whatever a stranger does who has signed up with it', async () => {
    const { account, changePassword, requestReset, resetToken, resetPassword, clock } = await openAccount();
    let current = PASSWORD;
    for (let times = 0; times < 8; times += 1) {
      await requestReset();
      const next = `${PASSWORD} ${times}`;
      await changePassword.execute({ accountId: account.id, current, next });
      current = next;
      clock.advance(HOUR / 10);
    }
    const token = await resetToken();
    expect(await resetPassword.execute({ token, password: OTHER })).toMatchObject({ email: EMAIL });
  });

  it('are at most five in any hour, and one refused now was preceded by one within the hour', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 90 }), { maxLength: 80 }), (waits) => {
        let [now, times] = [instant(0), [] as readonly Instant[]];
        const sent: Instant[] = [];
        for (const wait of waits) {
          now = later(now, wait * MINUTE);
          const { until } = decideMailTo({ times, sharedNow: now });
          if (until !== undefined) {
            expect(sent.at(-1)).toBeGreaterThan(later(now, -HOUR));
            // No more than it must wait.
            expect(decideMailTo({ times, sharedNow: later(until, -1) }).until).toBe(until);
            now = until;
          }
          const made = decideMailTo({ times, sharedNow: now });
          if (made.until !== undefined) throw new Error('there is no room');
          times = made.times;
          sent.push(now);
          expect(sent.filter((time) => time > later(now, -HOUR)).length).toBeLessThanOrEqual(5);
        }
      }),
    );
  });

  it('that the account refuses aren’t counted', async () => {
    const { requestReset, queued, clock } = await openAccount();
    const requestMany = async () => {
      for (let times = 0; times < 9; times += 1) await requestReset();
      return queued();
    };
    const before = await requestMany();
    clock.advance(HOUR);
    expect((await requestMany()) - before).toBe(3);
  });
});

describe('an account whose address is unproven', () => {
  it('is not given to the operator, unless the operator says that it is fine', async () => {
    const store = await openAccount();
    const unproven = { code: 'address_unproven', kind: 'conflict' };
    await expect(store.openAccount.execute({ email: EMAIL })).rejects.toMatchObject(unproven);
    const account = await store.openAccount.execute({ email: EMAIL, isUnprovenFine: true });
    expect(account).toMatchObject({ email: EMAIL, plan: PLANS.free });
  });

  it('is as any other as long as no worker can send mail', async () => {
    const { signUp, sendMail, changePlan } = openStore();
    await signUp();
    const change = { email: EMAIL, plan: PLANS.pro };
    expect(await changePlan.execute(change)).toMatchObject(change);
    await sendMail();
    await expect(changePlan.execute(change)).rejects.toMatchObject({ code: 'address_unproven' });
  });
});

describe('the address of an account', () => {
  it('changes by the link that is mailed to the new one, once, and the former address is told', async () => {
    const { changeToken, changeAddress, deliver, sender, clock, account, ...store } = await openAccount();
    await store.resetPassword.execute({ token: await store.resetToken(), password: PASSWORD });
    const token = await changeToken();
    expect(await store.getAccount.execute(account.id)).toMatchObject({ email: EMAIL });
    const [mail] = sender.to(NEW, 'change');
    expect(mail).toMatchObject({ expiresAt: clock.now() + HOUR });
    const changed = { email: NEW, provenAt: clock.now() };
    const input = { token, password: PASSWORD };
    expect(await changeAddress.execute(input)).toMatchObject(changed);
    expect(await changeAddress.execute(input)).toBeUndefined();
    await deliver();
    expect(sender.to(EMAIL, 'changed')).toMatchObject([{ token: undefined }]);
    expect(sender.to(NEW, 'changed')).toEqual([]);
  });

  it('changes by the link alone for whoever is signed in to it, and not for anybody else', async () => {
    const { changeToken, changeAddress, account, ports } = await openAccount();
    const token = await changeToken();
    const person = { accountId: account.id, credentialVersion: account.credentialVersion };
    const stranger = { ...person, accountId: 99n as AccountId };
    const changing = changeAddress.execute({ token, person: stranger, password: PASSWORD });
    await expect(changing).rejects.toMatchObject({ code: 'invalid_parameter' });
    for (const password of ['', OTHER]) {
      const changing = changeAddress.execute({ token, password });
      await expect(changing).rejects.toMatchObject({ problems: [{ field: 'password', rule: 'is not your password' }] });
    }
    ports.passwordHasher.verifications = 0;
    expect(await changeAddress.execute({ token, person, password: '' })).toMatchObject({ email: NEW });
    expect(ports.passwordHasher.verifications).toBe(0);
  });

  it.each([
    ['an address and the password', 'nobody', OTHER, ['email', 'password']],
    ['a text that can be a password', NEW, 'x'.repeat(200), ['password']],
    ['the password', NEW, OTHER, ['password']],
    ['another address', 'DEV@example.com', PASSWORD, ['email']],
  ])('stays without %s', async (_what, email, password, fields) => {
    const { requestChange, deliver, sender } = await openAccount();
    const problems = fields.map((field) => ({ field }));
    await expect(requestChange(email, password)).rejects.toMatchObject({ problems });
    await deliver();
    expect(sender.to(NEW, 'change')).toEqual([]);
  });

  it('stays if its owner resets the password while a stranger, who knew the former one, is asked for it', async () => {
    const { resetToken, resetPassword, requestChange, ports, deliver, sender } = await openAccount();
    const token = await resetToken();
    jest.spyOn(ports.passwordHasher, 'verify').mockImplementationOnce(async () => {
      await resetPassword.execute({ token, password: OTHER });
      return true;
    });
    await expect(requestChange()).rejects.toMatchObject({ code: 'signed_out' });
    await deliver();
    expect(sender.to(NEW, 'change')).toEqual([]);
  });

  it('has at most three pending changes, and none where no mail can be sent', async () => {
    const { requestChange } = await openAccount();
    for (let count = 0; count < MOST_LINKS; count += 1) expect(await requestChange(`${count}@example.com`)).toBe(true);
    expect(await requestChange()).toBe(false);
    const { signUp, requestAddressChange } = openStore();
    const { id: accountId } = await signUp();
    const request = requestAddressChange.execute({ accountId, email: NEW, password: PASSWORD });
    await expect(request).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});

describe('a password', () => {
  it('is reset once by a mailed token, which a refused password does not use up, and which ends all sessions', async () => {
    const { account, resetToken, resetPassword, signIn, sender } = await openAccount();
    const token = await resetToken();
    expect(sender.resets).toMatchObject([{ email: EMAIL, token: expect.stringMatching(/^[0-9A-Za-z]{43}$/) }]);
    const weak = resetPassword.execute({ token, password: 'short' });
    await expect(weak).rejects.toMatchObject({ code: 'invalid_parameter' });
    const reset = await resetPassword.execute({ token, password: OTHER });
    expect(reset?.credentialVersion).toBeGreaterThan(account.credentialVersion);
    expect(await resetPassword.execute({ token, password: 'short' })).toBeUndefined();
    expect(await signIn(OTHER)).toEqual(reset);
  });

  it('is asked for in silence where no account has the address, without a look-up if it can’t be one', async () => {
    const { requestReset, queued, ports, sendMail } = openStore();
    await sendMail();
    const findByEmail = jest.spyOn(ports.credentials, 'findByEmail');
    await requestReset('dev\0@example.com');
    expect(findByEmail).not.toHaveBeenCalled();
    await requestReset('nobody@example.com');
    expect(await queued()).toBe(0);
  });

  it('can’t be reset if no mail can be sent', async () => {
    await expect(openStore().requestReset()).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});
