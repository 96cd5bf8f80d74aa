import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { createApplication } from '../../application.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, SECOND } from '../../kernel/clock.js';
import { accountMailPages, inMemoryPorts } from '../../testing/index.js';
import { type AccountMailId, decideMailTo, LINK_TTL, MOST_LINKS } from './account-mail.js';
import type { AccountMailDelivery } from './deliver-account-mails.js';
import { PLANS } from '../plan.js';

const [EMAIL, NEW] = ['dev@example.com', 'new@example.com'];
const PASSWORD = 'a horse, a battery';
const OTHER = 'a staple, correctly';

/** A store that sends mails, without an account. */
function openStore() {
  const ports = inMemoryPorts();
  const application = createApplication(ports, { accountMailPages, delivery: { batch: 10 } });
  const { accountMailSender: sender, clock } = ports;
  const signUp = (email = EMAIL) => application.signUp.execute({ email, password: PASSWORD });
  const signIn = (password = PASSWORD, email = EMAIL) => application.signIn.execute({ email, password });
  const deliver = async () => {
    const deliveries: AccountMailDelivery[] = [];
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
  return { ...application, ports, clock, sender, signUp, signIn, deliver, requestReset, resetToken, queued };
}

/** A store with an account that has signed up, whose first mail waits. */
async function openAccount() {
  const store = openStore();
  const account = await store.signUp();
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
    const { deliver, sender, clock, proveAddress } = await openAccount();
    const sending = jest.spyOn(sender, 'send').mockRejectedValueOnce(new Error('the answer was lost'));
    expect(await deliver()).toMatchObject([{ attempt: 1, outcome: 'postponed' }]);
    expect(await deliver()).toEqual([]);
    clock.advance(5 * SECOND);
    expect(await deliver()).toMatchObject([{ attempt: 2, outcome: 'sent' }]);
    const [lost = '', arrived] = sending.mock.calls.map(([mail]) => mail.token);
    expect(arrived).not.toBe(lost);
    expect(await proveAddress.execute({ token: lost })).toBeDefined();
  });

  it('is tried until its link expires, and its last attempt is reported as its failure', async () => {
    const { requestReset, deliver, sender, clock, ports, account } = await openAccount();
    await deliver();
    sender.failure = new Error('the mail server is away');
    await requestReset();
    const outcomes: string[] = [];
    for (let waited = 0; waited < LINK_TTL.reset; waited += SECOND) {
      outcomes.push(...(await deliver()).map(({ outcome }) => outcome));
      clock.advance(SECOND);
    }
    expect(outcomes.at(-1)).toBe('failed');
    expect(new Set(outcomes.slice(0, -1))).toEqual(new Set(['postponed']));
    // A mail that is kept longer is tried more often than a message.
    const [createdAt, expiresAt] = [clock.now(), later(clock.now(), 2 * DAY)];
    const id = 'mail_notice' as AccountMailId;
    const notice = { id, accountId: account.id, kind: 'changed', page: '', createdAt, expiresAt } as const;
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
    const { deliver, sender, clock, deliverAccountMails } = await openAccount();
    clock.advance(LINK_TTL.proof);
    expect(await deliver()).toMatchObject([{ kind: 'proof', attempt: 1, outcome: 'dropped' }]);
    expect(sender.delivered).toEqual([]);
    expect(await deliverAccountMails.backlog()).toEqual({ queued: 0, oldest: undefined });
  });
});

describe('an address', () => {
  it('is proven by the token that is mailed to it at sign-up, once', async () => {
    const { account, deliver, sender, proveAddress, getAccount, clock } = await openAccount();
    expect(account.provenAt).toBeUndefined();
    expect(await deliver()).toMatchObject([{ kind: 'proof', attempt: 1, outcome: 'sent' }]);
    const token = sender.proofs[0]?.token ?? '';
    const times = { createdAt: clock.now(), expiresAt: later(clock.now(), DAY) };
    const mail = { kind: 'proof', email: EMAIL, page: accountMailPages.proof };
    expect(sender.proofs).toEqual([{ ...mail, ...times, token: expect.stringMatching(/^[0-9A-Za-z]{43}$/) }]);
    const proven = await proveAddress.execute({ token });
    expect(proven).toEqual({ ...account, provenAt: clock.now() });
    expect(await getAccount.execute(account.id)).toEqual(proven);
    expect(await proveAddress.execute({ token })).toBeUndefined();
  });

  it('gets three mails a day at the most, and none once it is proven', async () => {
    const { account, requestAddressProof, clock, ports } = await openAccount();
    expect(await createApplication(ports).requestAddressProof.execute(account)).toBe(false);
    for (let sent = 1; sent < MOST_LINKS; sent += 1) expect(await requestAddressProof.execute(account)).toBe(true);
    expect(await requestAddressProof.execute(account)).toBe(false);
    clock.advance(DAY);
    expect(await requestAddressProof.execute({ ...account, provenAt: clock.now() })).toBe(false);
    expect(await requestAddressProof.execute(account)).toBe(true);
  });

  it('is the same one however it is written, and is stored and mailed in one form', async () => {
    const { signUp, signIn, requestAddressChange, ports } = openStore();
    const [typed, other] = ['Zoe\u0308@b\u00adu\u0308cher\uff61example', 'ZO\u00cb@B\u00dcCHER.example'];
    const { id: accountId, email } = await signUp(typed);
    expect(email).toBe('zo\u00eb@xn--bcher-kva.example');
    await expect(signUp(other)).rejects.toMatchObject({ code: 'email_taken' });
    expect(await signIn(PASSWORD, other)).toMatchObject({ id: accountId });
    const change = { accountId, email: other, password: PASSWORD };
    await expect(requestAddressChange.execute(change)).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect((await ports.accountMails.claim({ limit: 9, lease: HOUR })).map((mail) => mail.email)).toEqual([email]);
  });

  it('from before addresses had one form finds its account, and gets its mails at the one form', async () => {
    const { ports, clock, sender, resetToken, resetPassword, signIn, signUp, ...store } = openStore();
    const old = '"dev"@b\u3002example';
    const opened = { email: old, plan: PLANS.free, scopes: undefined, createdAt: clock.now() };
    const { id } = await ports.accounts.open(opened);
    await resetPassword.execute({ token: await resetToken(old), password: PASSWORD });
    expect(sender.to('dev@b.example', 'reset')).toHaveLength(1);
    for (const email of [old, 'DEV@b.example']) {
      expect(await signIn(PASSWORD, email)).toMatchObject({ id, email: old });
      expect(await store.openAccount.execute({ email })).toMatchObject({ id });
      expect(await store.changePlan.execute({ email, plan: PLANS.pro })).toMatchObject({ id });
    }
    await expect(signUp('dev@b.example')).rejects.toMatchObject({ code: 'email_taken' });
  });
});

describe('the mails to one address', () => {
  it('are five of a kind in an hour and then one an hour, whoever signs up and closes the account again', async () => {
    const { signUp, closeAccount, clock, queued } = openStore();
    const attack = async (times: number) => {
      for (let done = 0; done < times; done += 1)
        await closeAccount.execute({ accountId: (await signUp()).id, password: PASSWORD });
    };
    await attack(7);
    expect(await queued()).toBe(5);
    clock.advance(HOUR);
    await attack(2);
    expect(await queued()).toBe(6);
  });

  it('are counted for each kind alone', async () => {
    const { signUp, closeAccount, requestReset, requestAddressChange, queued } = openStore();
    for (let times = 0; times < 5; times += 1)
      await closeAccount.execute({ accountId: (await signUp()).id, password: PASSWORD });
    const { id: accountId } = await signUp();
    expect(await queued()).toBe(5);
    await requestReset();
    expect(await queued()).toBe(6);
    expect(await requestAddressChange.execute({ accountId, email: NEW, password: PASSWORD })).toBe(true);
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

  it('is as any other where no mail can be sent, unless another process sends it', async () => {
    const { ports } = await openAccount();
    const change = { email: EMAIL, plan: PLANS.pro };
    const elsewhere = createApplication(ports, { provesAddresses: true });
    await expect(elsewhere.changePlan.execute(change)).rejects.toMatchObject({ code: 'address_unproven' });
    expect(await createApplication(ports).changePlan.execute(change)).toMatchObject(change);
  });
});

describe('the address of an account', () => {
  it('changes by the link that is mailed to the new one, once, and the former address is told', async () => {
    const { changeToken, changeAddress, deliver, sender, clock, account, ...store } = await openAccount();
    await deliver();
    await store.proveAddress.execute({ token: sender.proofs[0]?.token ?? '' });
    const token = await changeToken();
    expect(await store.getAccount.execute(account.id)).toMatchObject({ email: EMAIL });
    const [mail] = sender.to(NEW, 'change');
    expect(mail).toMatchObject({ page: accountMailPages.change, expiresAt: clock.now() + HOUR });
    const changed = { email: NEW, provenAt: clock.now() };
    expect(await changeAddress.execute({ token })).toMatchObject(changed);
    expect(await changeAddress.execute({ token })).toBeUndefined();
    await deliver();
    expect(sender.to(EMAIL, 'changed')).toMatchObject([{ token: undefined }]);
    expect(sender.to(NEW, 'changed')).toEqual([]);
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
    const { requestChange, ports, account } = await openAccount();
    for (let count = 0; count < MOST_LINKS; count += 1) expect(await requestChange(`${count}@example.com`)).toBe(true);
    expect(await requestChange()).toBe(false);
    const { requestAddressChange } = createApplication(ports);
    const request = requestAddressChange.execute({ accountId: account.id, email: NEW, password: PASSWORD });
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
    const { requestReset, queued, ports } = openStore();
    const findByEmail = jest.spyOn(ports.credentials, 'findByEmail');
    await requestReset('dev\0@example.com');
    expect(findByEmail).not.toHaveBeenCalled();
    await requestReset('nobody@example.com');
    expect(await queued()).toBe(0);
  });

  it('can’t be reset if no mail can be sent, which is reported in advance', async () => {
    const { ports, requestPasswordReset } = openStore();
    expect(requestPasswordReset.isAvailable).toBe(true);
    const without = createApplication(ports).requestPasswordReset;
    expect(without.isAvailable).toBe(false);
    await expect(without.execute({ email: EMAIL })).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});
