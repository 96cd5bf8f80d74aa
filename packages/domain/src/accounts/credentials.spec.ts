import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { createApplication } from '../application.js';
import { RefusedForGood } from '../deliveries/deliver-batch.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE, SECOND } from '../kernel/clock.js';
import { accountMailPages, decisions, inMemoryPorts } from '../testing/index.js';
import { type Account, type AccountId, closedEmail } from './account.js';
import {
  type AccountMailId,
  decideLinkMail,
  decideMailTo,
  decideToken,
  LINK_KINDS,
  LINK_TTL,
  MOST_LINKS,
} from './account-mail.js';
import {
  type Credentials,
  decideAddressChange,
  decideClosing,
  decidePasswordChange,
  decideProof,
  decideRehash,
  decideReset,
  decideSignUp,
  type MailedLink,
  NOTICE_TTL,
} from './credentials.js';
import type { AccountMailDelivery } from './deliver-account-mails.js';
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

describe('decisions on credentials', () => {
  const NOW = instant(Date.UTC(2026, 0, 1));
  const [EARLIER, SOON] = [later(NOW, -HOUR), later(NOW, 1)];
  const account: Account = {
    id: 7n as AccountId,
    email: EMAIL,
    plan: PLANS.pro,
    scopes: ['pets:read'],
    createdAt: EARLIER,
    credentialVersion: 3,
    provenAt: undefined,
  };
  const proven = { ...account, provenAt: EARLIER };
  const operators = { ...account, credentialVersion: 0 };
  const of = (each: Account, passwordHash: string | undefined = 'hash'): Credentials => ({
    account: each,
    passwordHash,
  });
  const stored = of(account);
  const none = { account: operators, passwordHash: undefined };
  const next = { ...account, credentialVersion: 4 };
  const right = { current: 'hash', next: 'next' };
  const wrong = { ...right, current: 'another' };
  const given = <State, Command, Outcome>(decide: (state: State, command: Command, now: Instant) => Outcome) =>
    decisions({ it, expect }, (state: State, command: Command) => decide(state, command, NOW));
  const nothing = 'nothing changes';

  describe('signing up', () => {
    const signUp = given(decideSignUp);
    const command = { email: EMAIL, scopes: ['pets:read'] as const, passwordHash: 'hash' };
    const opened = {
      email: EMAIL,
      scopes: command.scopes,
      plan: PLANS.free,
      createdAt: NOW,
      credentialVersion: 1,
    };
    signUp('a free address', undefined)
      .when('it is given', command)
      .then('it opens an account', { account: opened, passwordHash: 'hash' });
    signUp('an address with an account', operators).when('it is given', command).thenRefused('email_taken');
  });

  describe('changing the password', () => {
    const change = given(decidePasswordChange);
    change('a proven address', of(proven))
      .when('its password is changed', right)
      .then('sessions and links end', {
        credentials: of({ ...next, provenAt: EARLIER }, 'next'),
        revokedLinks: ['reset', 'change'],
      });
    change('an unproven address', stored)
      .when('its password is changed', right)
      .then('its owner can still reset it', { credentials: of(next, 'next'), revokedLinks: ['change'] });
    change('another password by now', stored).when('it is changed', wrong).then(nothing, undefined);
    change('no password', none).when('it is changed', right).then(nothing, undefined);
    change('no account', undefined).when('its password is changed', right).then(nothing, undefined);
  });

  describe('hashing the password anew', () => {
    const rehash = given(decideRehash);
    rehash('a password', stored)
      .when('it is', right)
      .then('sessions go on', { credentials: of(account, 'next') });
    rehash('another password by now', stored).when('it is', wrong).then(nothing, undefined);
    rehash('no account', undefined).when('it is', right).then(nothing, undefined);
  });

  describe('closing', () => {
    const close = given(decideClosing);
    close('an account', stored)
      .when('it is closed', right)
      .then('all of it ends', {
        credentials: { account: { ...next, email: closedEmail(account.id) }, passwordHash: undefined },
        revokedLinks: LINK_KINDS,
        keysRevokedAt: NOW,
        closedAt: NOW,
      });
    close('another password by now', stored).when('it is closed', wrong).then(nothing, undefined);
    close('no password', none).when('it is closed', right).then(nothing, undefined);
    close('no account', undefined).when('it is closed', right).then(nothing, undefined);
  });

  describe('a link', () => {
    const link = (each: Account, changes: Partial<MailedLink> = {}): MailedLink => ({
      credentials: of(each),
      expiresAt: SOON,
      address: undefined,
      isAddressTaken: false,
      ...changes,
    });
    const [expired, toNew] = [link(account, { expiresAt: NOW, address: NEW }), link(account, { address: NEW })];

    describe('that resets the password', () => {
      const reset = given(decideReset);
      const command = { passwordHash: 'next' };
      const revokedLinks = LINK_KINDS;
      reset('an unproven address', link(account))
        .when('it is followed', command)
        .then('the keys go, too', {
          credentials: of({ ...next, provenAt: NOW }, 'next'),
          revokedLinks,
          keysRevokedAt: NOW,
        });
      reset('a proven address', link(proven))
        .when('it is followed', command)
        .then('the keys stay', { credentials: of({ ...next, provenAt: EARLIER }, 'next'), revokedLinks });
      reset('the operator’s word', link(operators))
        .when('it is followed', command)
        .then('the keys stay', {
          credentials: of({ ...account, credentialVersion: 1, provenAt: NOW }, 'next'),
          revokedLinks,
        });
      reset('an expired link', expired).when('it is followed', command).then(nothing, undefined);
      reset('no link', undefined).when('it is followed', command).then(nothing, undefined);
    });

    describe('that proves the address', () => {
      const prove = decisions({ it, expect }, decideProof);
      prove('an unproven address', link(account))
        .when('it is followed', NOW)
        .then('it is proven', { credentials: of({ ...account, provenAt: NOW }), revokedLinks: ['proof'] });
      prove('a proven address', link(proven))
        .when('it is followed', NOW)
        .then('its instant stays', { credentials: of(proven), revokedLinks: ['proof'] });
      prove('an expired link', expired).when('it is followed', NOW).then(nothing, undefined);
      prove('no link', undefined).when('it is followed', NOW).then(nothing, undefined);
    });

    describe('that changes the address', () => {
      const change = given(decideAddressChange);
      const command = { noticeId: 'mail_1' as AccountMailId };
      const about = { id: command.noticeId, accountId: account.id, kind: 'changed', page: '' } as const;
      change('a free address', toNew)
        .when('it is followed', command)
        .then('it is the account’s, proven, and the former one is told', {
          credentials: of({ ...account, email: NEW, provenAt: NOW }),
          revokedLinks: LINK_KINDS,
          notice: { ...about, address: EMAIL, createdAt: NOW, expiresAt: later(NOW, NOTICE_TTL) },
        });
      change('an address with an account', { ...toNew, isAddressTaken: true })
        .when('it is followed', command)
        .thenRefused('email_taken');
      change('a link without an address', link(account)).when('it is followed', command).then(nothing, undefined);
      change('an expired link', { ...expired, isAddressTaken: true })
        .when('it is followed', command)
        .then(nothing, undefined);
      change('no link', undefined).when('it is followed', command).then(nothing, undefined);
    });
  });

  describe('a mail with a link', () => {
    const add = decisions({ it, expect }, decideLinkMail);
    const three = { most: 3 };
    add('two that are usable', { account, usable: 2 }).when('three may be', three).then('it is queued', true);
    add('three that are usable', { account, usable: 3 }).when('three may be', three).then('it is not', false);
    add('no account', { account: undefined, usable: 0 }).when('three may be', three).then('it is not', false);
    add('the version 3', { account, usable: 0 })
      .when('3 is wanted', { ...three, credentialVersion: 3 })
      .then('it is queued', true);
    add('the version 3', { account, usable: 0 })
      .when('2 is wanted', { ...three, credentialVersion: 2 })
      .thenRefused('signed_out');

    const send = decisions({ it, expect }, decideToken);
    const mail = { expiresAt: SOON };
    send('a claimed one', { account, mail }).when('it is sent', NOW).then('it has a token', true);
    send('one that has expired', { account, mail }).when('it is sent', SOON).then('it has none', false);
    send('one that is claimed again', { account, mail: undefined }).when('it is sent', NOW).then('it has none', false);
    send('one of a closed account', { account: undefined, mail }).when('it is sent', NOW).then('it has none', false);
  });
});

describe('signing up', () => {
  it('opens an account on the free plan, once, whose password signs in, however the address is written', async () => {
    const { signUp, signIn } = setUp();
    const account = await signUp.execute({ email: 'Dev@Example.com', password: PASSWORD });
    expect(account).toMatchObject({ email: EMAIL, plan: PLANS.free });
    expect(await signIn(PASSWORD, 'DEV@example.com')).toEqual(account);
    const again = signUp.execute({ email: 'DEV@example.com', password: OTHER });
    await expect(again).rejects.toMatchObject({ code: 'email_taken', kind: 'conflict' });
    expect(await signIn(OTHER)).toBeUndefined();
  });

  it.each([
    ['12 code points beyond the 16 bits of one', '🐈🐕🐇🐢'.repeat(3)],
    ['128 code points', '🐈🐕🐇🐢'.repeat(32)],
    ['four different characters', 'abcd'.repeat(3)],
    ['spaces and no digit', 'all in small letters'],
  ])('may have a password of %s', async (_what, password) => {
    const { signUp, signIn } = setUp();
    await signUp.execute({ email: EMAIL, password });
    expect(await signIn(password)).toBeDefined();
  });

  it.each([
    ['11 characters', 'abcdefghijk'],
    ['129 characters', 'x'.repeat(129)],
    ['text that is shorter than 12 once composed', 'e\u0301'.repeat(11)],
    ['the address itself', 'DEV@example.com'],
    ['a very common one', 'QwertyQwerty'],
    ['fewer than four different characters', 'abca'.repeat(3)],
    ['one character, twelve times', '🐈'.repeat(12)],
    ['only white space', '\u3000\t'.repeat(8)],
    ['a lone surrogate', `\ud800${PASSWORD}`],
  ])('may not have %s as a password, and opens nothing', async (_what, password) => {
    const { signUp, listAccounts } = setUp();
    await expect(signUp.execute({ email: EMAIL, password })).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(await listAccounts.execute()).toEqual([]);
  });

  it('is told the problems of the address and of the password at once', async () => {
    const { signUp } = setUp();
    await expect(signUp.execute({ email: 'nobody', password: 'short' })).rejects.toMatchObject({
      problems: [
        { field: 'email', rule: expect.stringContaining('must be an e-mail address') },
        { field: 'password', rule: 'must be at least 12 characters' },
      ],
    });
  });

  it('has the same password however its characters are composed', async () => {
    const { signUp, signIn } = setUp();
    await signUp.execute({ email: EMAIL, password: 'cafe\u0301 au lait, s’il vous plai\u0302t' });
    expect(await signIn('café au lait, s’il vous plaît')).toBeDefined();
  });
});

describe('signing in', () => {
  it.each([
    ['another password', OTHER, EMAIL],
    ['an unknown address', PASSWORD, 'nobody@example.com'],
    ['text that is not an address', PASSWORD, 'dev'],
    ['an account that has no password', PASSWORD, 'operator@example.com'],
    ['an account that was closed', PASSWORD, 'closed@example.com'],
  ])('fails in the same way with %s, after one verification', async (_what, password, email) => {
    const { signUp, signIn, signedUp, openAccount, closeAccount, ports } = setUp();
    await signedUp();
    await openAccount.execute({ email: 'operator@example.com' });
    const { id } = await signUp.execute({ email: 'closed@example.com', password: PASSWORD });
    expect(await closeAccount.execute({ accountId: id, password: PASSWORD })).toBe(true);
    ports.passwordHasher.verifications = 0;
    expect(await signIn(password, email)).toBeUndefined();
    expect(ports.passwordHasher.verifications).toBe(1);
  });

  it('by a text that can’t be a password costs no verification', async () => {
    const { signIn, signedUp, ports } = setUp();
    await signedUp();
    for (const text of ['\ud800', 'x'.repeat(129)]) expect(await signIn(text)).toBeUndefined();
    expect(ports.passwordHasher.verifications).toBe(0);
  });

  it('never opens an account without a password, whatever the hasher says', async () => {
    const { signIn, openAccount, ports } = setUp();
    await openAccount.execute({ email: EMAIL });
    jest.spyOn(ports.passwordHasher, 'verify').mockResolvedValue(true);
    for (const email of [EMAIL, 'nobody@example.com']) expect(await signIn(PASSWORD, email)).toBeUndefined();
  });

  it('rehashes the password only after the parameters changed, and ends no session', async () => {
    const { signIn, signedUp, ports } = setUp();
    const account = await signedUp();
    const kept = async () => (await ports.credentials.findById(account.id))?.passwordHash ?? '';
    const hash = await kept();
    await signIn();
    expect(await kept()).toBe(hash);
    ports.passwordHasher.generation = 2;
    expect(await signIn()).toEqual(account);
    expect(ports.passwordHasher.isOutdated(await kept())).toBe(false);
    expect(await signIn()).toEqual(account);
  });
});

describe('a password', () => {
  it('can be changed with the current one, which ends all other sessions', async () => {
    const { signedUp, changePassword, signIn, getAccount } = setUp();
    const { id, credentialVersion } = await signedUp();
    const changed = await changePassword.execute({ accountId: id, current: PASSWORD, next: OTHER });
    expect(changed?.credentialVersion).toBeGreaterThan(credentialVersion);
    expect(await getAccount.execute(id)).toEqual(changed);
    expect(await signIn()).toBeUndefined();
    expect(await signIn(OTHER)).toEqual(changed);
  });

  it('stays the same if the current one is wrong or the new one is refused', async () => {
    const { signedUp, changePassword, signIn } = setUp();
    const account = await signedUp();
    const accountId = account.id;
    const wrong = { field: 'current', rule: 'is not your password' };
    const weak = { field: 'next', rule: 'must be at least 12 characters' };
    for (const [current, next, problems] of [
      [OTHER, OTHER, [wrong]],
      [PASSWORD, 'short', [weak]],
      [OTHER, 'short', [wrong, weak]],
    ] as const)
      await expect(changePassword.execute({ accountId, current, next })).rejects.toMatchObject({ problems });
    expect(await signIn()).toEqual(account);
  });

  it('is not changed where there is none, or by a text that can’t be one, which costs no verification', async () => {
    const { signedUp, openAccount, changePassword, closeAccount, ports } = setUp();
    const { id } = await signedUp();
    const operators = await openAccount.execute({ email: 'operator@example.com' });
    for (const [accountId, current] of [
      [id, '\ud800'],
      [operators.id, PASSWORD],
      [99n as AccountId, PASSWORD],
    ] as const) {
      const wrong = { problems: [{ field: 'current' }] };
      await expect(changePassword.execute({ accountId, current, next: OTHER })).rejects.toMatchObject(wrong);
      expect(await closeAccount.execute({ accountId, password: current })).toBe(false);
    }
    expect(ports.passwordHasher.verifications).toBe(0);
  });

  it('is reset once by a mailed token, which a refused password does not use up, and which ends all sessions', async () => {
    const { signedUp, reset, resetPassword, signIn, ports } = setUp();
    const { credentialVersion } = await signedUp();
    const token = await reset();
    expect(ports.accountMailSender.resets).toMatchObject([{ email: EMAIL }]);
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    const weak = resetPassword.execute({ token, password: 'short' });
    await expect(weak).rejects.toMatchObject({ code: 'invalid_parameter' });
    const account = await resetPassword.execute({ token, password: OTHER });
    expect(account?.credentialVersion).toBeGreaterThan(credentialVersion);
    expect(await resetPassword.execute({ token, password: 'short' })).toBeUndefined();
    expect(await signIn(OTHER)).toEqual(account);
  });

  it('is not even read for a token older than an hour', async () => {
    const { signedUp, reset, resetPassword, clock } = setUp();
    await signedUp();
    const token = await reset();
    clock.advance(HOUR);
    expect(await resetPassword.execute({ token, password: 'short' })).toBeUndefined();
  });

  it('is neither asked for nor reset by what can’t be an address: the store is never asked of that', async () => {
    const { signIn, requestPasswordReset, ports } = setUp();
    const findByEmail = jest.spyOn(ports.credentials, 'findByEmail');
    await requestPasswordReset.execute({ email: 'dev\0@example.com' });
    await signIn(PASSWORD, 'dev\0@example.com');
    expect(findByEmail).not.toHaveBeenCalled();
  });

  it('reset sends an account at most three mails an hour', async () => {
    const { signedUp, reset, clock, ports } = setUp();
    await signedUp();
    for (let sent = 0; sent < 4; sent += 1) await reset();
    expect(ports.accountMailSender.resets).toHaveLength(3);
    clock.advance(HOUR);
    await reset();
    expect(ports.accountMailSender.resets).toHaveLength(4);
  });

  it('can’t be reset if no mail can be sent, which is reported in advance', async () => {
    const { ports, requestPasswordReset } = setUp();
    expect(requestPasswordReset.isAvailable).toBe(true);
    const without = createApplication(ports).requestPasswordReset;
    expect(without.isAvailable).toBe(false);
    await expect(without.execute({ email: EMAIL })).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});

it('expired links are purged', async () => {
  const { signedUp, reset, purgeExpired, clock } = setUp();
  await signedUp();
  await reset();
  expect(await purgeExpired.execute('resets')).toBe(0);
  clock.advance(HOUR);
  expect(await purgeExpired.execute('resets')).toBe(1);
});

/** An account that signed up, whose first mail waits. */
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
