import { describe, expect, it, jest } from '@jest/globals';
import { createApplication } from '../application.js';
import { HOUR } from '../kernel/clock.js';
import { accountMailPages, inMemoryPorts } from '../testing/index.js';
import type { AccountId } from './account.js';
import { PLANS } from './plan.js';

const EMAIL = 'dev@example.com';
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
