import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createApplication } from '../application.js';
import { RefusedForGood } from '../deliveries/deliver-batch.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, SECOND } from '../kernel/clock.js';
import { accountMailPages, inMemoryPorts } from '../testing/index.js';
import { decideMailTo, LINK_TTL, MOST_LINKS } from './mails/account-mail.js';
import type { AccountMailDelivery } from './mails/deliver-account-mails.js';
import { PLANS } from './plan.js';

const [EMAIL, NEW] = ['dev@example.com', 'new@example.com'];
const PASSWORD = 'a horse, a battery';
const OTHER = 'a staple, correctly';

function setUp() {
  const ports = inMemoryPorts();
  const application = createApplication(ports, { accountMailPages });
  const reset = async (email = EMAIL) => {
    await application.requestPasswordReset.execute({ email });
    await application.deliverAccountMails.execute();
    return ports.accountMailSender.resets.at(-1)?.token ?? '';
  };
  return {
    ...application,
    ports,
    clock: ports.clock,
    reset,
    signedUp: () => application.signUp.execute({ email: EMAIL, password: PASSWORD }),
    signIn: (password = PASSWORD, email = EMAIL) => application.signIn.execute({ email, password }),
  };
}

async function withAccount() {
  const store = setUp();
  const account = await store.signedUp();
  const { accountMailSender: sender } = store.ports;
  const deliver = async () => {
    const deliveries: AccountMailDelivery[] = [];
    await store.deliverAccountMails.execute({ onAttempt: (delivery) => deliveries.push(delivery) });
    return deliveries;
  };
  const request = (email = NEW, password = PASSWORD) =>
    store.requestAddressChange.execute({ accountId: account.id, email, password });
  const tokenFor = async (email = NEW) => {
    await request(email);
    await deliver();
    return sender.to(email, 'change').at(-1)?.token ?? '';
  };
  return { ...store, account, accountId: account.id, sender, deliver, request, tokenFor };
}

describe('a mail to an account', () => {
  it('is tried again with another token, and the links of all that arrive work', async () => {
    const { deliver, sender, clock, proveAddress } = await withAccount();
    const lost: string[] = [];
    const delivered = sender.send.bind(sender);
    sender.send = async (mail) => {
      lost.push(mail.token ?? 'none');
      throw new Error('the answer was lost');
    };
    expect(await deliver()).toMatchObject([{ attempt: 1, outcome: 'postponed' }]);
    sender.send = delivered;
    expect(await deliver()).toEqual([]);
    clock.advance(5 * SECOND);
    expect(await deliver()).toMatchObject([{ attempt: 2, outcome: 'sent' }]);
    expect(sender.proofs[0]?.token).not.toBe(lost[0]);
    expect(await proveAddress.execute({ token: lost[0] ?? '' })).toBeDefined();
  });

  it('is given up at once where its address takes no mail', async () => {
    const { deliver, sender, clock } = await withAccount();
    sender.failure = new RefusedForGood('no such mailbox');
    expect(await deliver()).toMatchObject([{ attempt: 1, outcome: 'failed' }]);
    clock.advance(HOUR);
    expect(await deliver()).toEqual([]);
  });

  it('is dropped once its link has expired', async () => {
    const { deliver, sender, clock, deliverAccountMails } = await withAccount();
    clock.advance(LINK_TTL.proof);
    expect(await deliver()).toMatchObject([{ kind: 'proof', attempt: 1, outcome: 'dropped' }]);
    expect(sender.delivered).toEqual([]);
    expect(await deliverAccountMails.backlog()).toEqual({ queued: 0, oldest: undefined });
  });
});

describe('an address', () => {
  it('is proven by the token that is mailed to it at sign-up, once', async () => {
    const { account, deliver, sender, proveAddress, getAccount, clock } = await withAccount();
    expect(account.provenAt).toBeUndefined();
    expect(sender.delivered).toEqual([]);
    expect(await deliver()).toMatchObject([{ kind: 'proof', attempt: 1, outcome: 'sent' }]);
    expect(await deliver()).toEqual([]);
    const token = sender.proofs[0]?.token ?? '';
    const mail = { kind: 'proof', email: EMAIL, page: accountMailPages.proof, expiresAt: clock.now() + DAY };
    expect(sender.proofs).toEqual([{ ...mail, token: expect.stringMatching(/^[0-9A-Za-z]{43}$/) }]);
    const proven = await proveAddress.execute({ token });
    expect(proven).toEqual({ ...account, provenAt: clock.now() });
    expect(await getAccount.execute(account.id)).toEqual(proven);
    expect(await proveAddress.execute({ token })).toBeUndefined();
  });

  it('gets three mails a day at the most, and none once it is proven', async () => {
    const { account, requestAddressProof, clock, ports } = await withAccount();
    expect(await createApplication(ports).requestAddressProof.execute(account)).toBe(false);
    for (let sent = 1; sent < MOST_LINKS; sent += 1) expect(await requestAddressProof.execute(account)).toBe(true);
    expect(await requestAddressProof.execute(account)).toBe(false);
    clock.advance(DAY);
    expect(await requestAddressProof.execute({ ...account, provenAt: clock.now() })).toBe(false);
    expect(await requestAddressProof.execute(account)).toBe(true);
  });
});

it('an address is not changed by who knew the former password, if its owner resets it while it is checked', async () => {
  const { reset, resetPassword, request, tokenFor, ports, sender } = await withAccount();
  const token = await reset();
  const { passwordHasher } = ports;
  const verify = passwordHasher.verify.bind(passwordHasher);
  passwordHasher.verify = async (password, hash) => {
    await resetPassword.execute({ token, password: OTHER });
    return verify(password, hash);
  };
  await expect(request()).rejects.toMatchObject({ code: 'signed_out' });
  passwordHasher.verify = verify;
  expect(await ports.accountMails.backlog()).toMatchObject({ queued: 0 });
  expect(sender.to(NEW, 'change')).toEqual([]);
  await expect(tokenFor()).rejects.toMatchObject({ code: 'invalid_parameter' });
});

it('an address is the same one however it is written, and is stored and mailed in one form', async () => {
  const { signUp, signIn, requestAddressChange, ports } = setUp();
  const [sent, other] = ['Zoe\u0308@b\u00adu\u0308cher\uff61example', 'ZO\u00cb@B\u00dcCHER.example'];
  const { id: accountId, email } = await signUp.execute({ email: sent, password: PASSWORD });
  expect(email).toBe('zo\u00eb@xn--bcher-kva.example');
  await expect(signUp.execute({ email: other, password: OTHER })).rejects.toMatchObject({ code: 'email_taken' });
  expect(await signIn(PASSWORD, other)).toMatchObject({ id: accountId });
  const change = { accountId, email: other, password: PASSWORD };
  await expect(requestAddressChange.execute(change)).rejects.toMatchObject({ code: 'invalid_parameter' });
  expect((await ports.accountMails.claim({ limit: 9, lease: HOUR })).map((mail) => mail.email)).toEqual([email]);
});

it('an account from before addresses had one form is found by its spelling, and gets its mails at the one form', async () => {
  const { ports, clock, reset, resetPassword, signIn, signUp, openAccount, changePlan, listAccounts } = setUp();
  const old = '"dev"@b\u3002example';
  const opened = { email: old, plan: PLANS.free, scopes: undefined, createdAt: clock.now() };
  const { id } = await ports.accounts.open(opened);
  await resetPassword.execute({ token: await reset(old), password: PASSWORD });
  expect(ports.accountMailSender.to('dev@b.example', 'reset')).toHaveLength(1);
  for (const email of [old, 'DEV@b.example']) {
    expect(await signIn(PASSWORD, email)).toMatchObject({ id, email: old });
    expect(await openAccount.execute({ email })).toMatchObject({ id });
    expect(await changePlan.execute({ email, plan: PLANS.pro })).toMatchObject({ id });
  }
  const again = signUp.execute({ email: 'dev@b.example', password: OTHER });
  await expect(again).rejects.toMatchObject({ code: 'email_taken' });
  expect(await listAccounts.execute()).toHaveLength(1);
});

describe('the mails to one address', () => {
  const stranger = async (count: number) => {
    const { closeAccount, signedUp, ...rest } = setUp();
    const again = async () => {
      const { id: accountId } = await signedUp();
      expect(await closeAccount.execute({ accountId, password: PASSWORD })).toBe(true);
    };
    for (let done = 0; done < count; done += 1) await again();
    return { ...rest, again, mails: () => rest.ports.accountMailSender.to(EMAIL, 'proof').length, signedUp };
  };
  const queued = async ({ ports }: Pick<ReturnType<typeof setUp>, 'ports'>) =>
    (await ports.accountMails.backlog()).queued;

  it('are five of a kind in an hour and then one an hour, whoever signs up and closes the account again', async () => {
    const attack = await stranger(7);
    expect(await queued(attack)).toBe(5);
    for (let hour = 6; hour < 9; hour += 1) {
      attack.clock.advance(HOUR);
      await attack.again();
      await attack.again();
      expect(await queued(attack)).toBe(hour);
    }
    // After five quiet hours there is room for five again.
    attack.clock.advance(5 * HOUR);
    for (let times = 0; times < 7; times += 1) await attack.again();
    expect(await queued(attack)).toBe(13);
  });

  it('are counted for each kind alone, however the address is written', async () => {
    const { signUp, closeAccount, requestPasswordReset, requestAddressChange, ports } = setUp();
    const email = 'zo\u00eb@mail.example.com';
    const others = [
      'ZOE\u0308@mail.example.com',
      ...['.', '\u3002', '\uff0e', '\uff61'].map((dot) => `${email.slice(0, -4)}\u00ad${dot}com`),
    ];
    const open = async (address: string) => (await signUp.execute({ email: address, password: PASSWORD })).id;
    for (const address of others) await closeAccount.execute({ accountId: await open(address), password: PASSWORD });
    const accountId = await open(email);
    expect(await queued({ ports })).toBe(5);
    await requestPasswordReset.execute({ email });
    expect(await queued({ ports })).toBe(6);
    expect(await requestAddressChange.execute({ accountId, email: NEW, password: PASSWORD })).toBe(true);
  });

  it('leave its owner a link that resets the password, whatever a stranger does who has signed up with it', async () => {
    const { signedUp, changePassword, requestPasswordReset, reset, resetPassword, clock } = setUp();
    const { id: accountId } = await signedUp();
    let current = PASSWORD;
    for (let times = 0; times < 8; times += 1) {
      await requestPasswordReset.execute({ email: EMAIL });
      const next = `${PASSWORD} ${times}`;
      await changePassword.execute({ accountId, current, next });
      current = next;
      clock.advance(HOUR / 10);
    }
    const token = await reset();
    expect(await resetPassword.execute({ token, password: OTHER })).toMatchObject({ email: EMAIL });
  });

  it('are at most five in any hour, and one refused now was preceded by one within the hour', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 90 }), { maxLength: 80 }), (waits) => {
        let [now, times] = [instant(0), [] as readonly Instant[]];
        const sent: Instant[] = [];
        for (const wait of waits) {
          now = later(now, wait * MINUTE);
          const decision = decideMailTo({ times, sharedNow: now });
          if (decision.until !== undefined) {
            expect(decision.until).toBeGreaterThan(now);
            expect(sent.at(-1)).toBeGreaterThan(later(now, -HOUR));
            // No more than it must wait.
            now = decision.until;
            expect(decideMailTo({ times, sharedNow: later(now, -1) }).until).toBe(now);
          }
          const made = decideMailTo({ times, sharedNow: now });
          if (made.until !== undefined) throw new Error('there is no room');
          times = made.times;
          expect(times.length).toBeLessThanOrEqual(5);
          sent.push(now);
          expect(sent.filter((time) => time > later(now, -HOUR)).length).toBeLessThanOrEqual(5);
        }
      }),
    );
  });

  it('that the account refuses aren’t counted', async () => {
    const { signedUp, requestPasswordReset, ...rest } = setUp();
    await signedUp();
    for (let times = 0; times < 9; times += 1) await requestPasswordReset.execute({ email: EMAIL });
    rest.clock.advance(HOUR);
    const before = await queued(rest);
    for (let times = 0; times < 9; times += 1) await requestPasswordReset.execute({ email: EMAIL });
    expect((await queued(rest)) - before).toBe(3);
  });
});

describe('an account whose address is unproven', () => {
  it('is neither given to the operator nor put on another plan, unless the operator says that it is fine', async () => {
    const { openAccount, changePlan } = await withAccount();
    const unproven = { code: 'address_unproven', kind: 'conflict' };
    await expect(openAccount.execute({ email: EMAIL })).rejects.toMatchObject(unproven);
    await expect(changePlan.execute({ email: EMAIL, plan: PLANS.pro })).rejects.toMatchObject(unproven);
    expect(await openAccount.execute({ email: EMAIL, isUnprovenFine: true })).toMatchObject({
      plan: PLANS.free,
    });
    const changed = await changePlan.execute({ email: EMAIL, plan: PLANS.pro, isUnprovenFine: true });
    expect(changed).toMatchObject({ plan: PLANS.pro });
  });

  it('is as any other where no mail can be sent, unless another process sends it', async () => {
    const { ports } = await withAccount();
    const plan = PLANS.pro;
    const elsewhere = createApplication(ports, { provesAddresses: true });
    await expect(elsewhere.openAccount.execute({ email: EMAIL })).rejects.toMatchObject({ code: 'address_unproven' });
    await expect(elsewhere.changePlan.execute({ email: EMAIL, plan })).rejects.toMatchObject({
      code: 'address_unproven',
    });
    const nowhere = createApplication(ports);
    expect(await nowhere.openAccount.execute({ email: EMAIL })).toMatchObject({ email: EMAIL });
    expect(await nowhere.changePlan.execute({ email: EMAIL, plan })).toMatchObject({ plan });
  });
});

describe('the address of an account', () => {
  it('changes by the link that is mailed to the new one; sessions go on, and the former address is told', async () => {
    const { tokenFor, changeAddress, deliver, sender, clock, account, signIn, getAccount, ...store } =
      await withAccount();
    const session = await store.beginSession.execute({ account });
    const token = await tokenFor();
    expect(await getAccount.execute(account.id)).toMatchObject({ email: EMAIL });
    const [mail] = sender.to(NEW, 'change');
    expect(mail).toMatchObject({ page: accountMailPages.change, expiresAt: clock.now() + HOUR });
    const changed = { email: NEW, provenAt: clock.now() };
    expect(await changeAddress.execute({ token })).toMatchObject(changed);
    expect(await changeAddress.execute({ token })).toBeUndefined();
    expect(await signIn()).toBeUndefined();
    expect(await signIn(PASSWORD, 'New@Example.com')).toMatchObject(changed);
    expect(await store.resumeSession.execute(session ?? '')).toMatchObject({ account: changed });
    await deliver();
    expect(sender.to(EMAIL, 'changed')).toMatchObject([{ token: undefined }]);
    expect(sender.to(NEW, 'changed')).toEqual([]);
  });

  it('stays without the password, without another address, and without a link', async () => {
    const { request, changeAddress, deliver, sender } = await withAccount();
    const fields = (...names: string[]) => ({ problems: names.map((field) => expect.objectContaining({ field })) });
    for (const wrong of ['the wrong pass phrase', 'x'.repeat(200)])
      await expect(request('nobody', wrong)).rejects.toMatchObject(fields('email', 'password'));
    await expect(request(NEW, OTHER)).rejects.toMatchObject(fields('password'));
    await expect(request('DEV@example.com')).rejects.toMatchObject(fields('email'));
    await deliver();
    expect(sender.to(NEW, 'change')).toEqual([]);
    expect(await changeAddress.execute({ token: 'made-up' })).toBeUndefined();
  });

  it('has at most three pending changes, and none where no mail can be sent', async () => {
    const { request, clock, ports, accountId } = await withAccount();
    for (let count = 0; count < MOST_LINKS; count += 1) expect(await request(`${count}@example.com`)).toBe(true);
    expect(await request()).toBe(false);
    clock.advance(HOUR);
    expect(await request()).toBe(true);
    const { requestAddressChange } = createApplication(ports);
    await expect(requestAddressChange.execute({ accountId, email: NEW, password: PASSWORD })).rejects.toMatchObject({
      code: 'service_unavailable',
    });
  });

  it('is not told to the former address after two days', async () => {
    const { tokenFor, changeAddress, deliver, sender, clock } = await withAccount();
    await changeAddress.execute({ token: await tokenFor() });
    clock.advance(2 * DAY);
    expect(await deliver()).toMatchObject([{ kind: 'changed', outcome: 'dropped' }]);
    expect(sender.to(EMAIL, 'changed')).toEqual([]);
  });
});
