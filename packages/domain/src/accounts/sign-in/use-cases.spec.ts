import { testPolicy } from '../../testing/in-memory-application.js';
import { describe, expect, it, jest } from '@jest/globals';
import { createApplication } from '../../application.js';
import { inMemoryPorts } from '../../testing/index.js';
import type { AccountId } from '../account.js';
import { PLANS } from '../plan.js';

const EMAIL = 'dev@example.com';
const PASSWORD = 'a horse, a battery';
const OTHER = 'a staple, correctly';

function setUp() {
  const ports = inMemoryPorts();
  const application = createApplication(ports, testPolicy(), { opensUnproven: true, signupScopes: ['pets:read'] });
  const signUp = (password = PASSWORD, email = EMAIL) => application.signUp.execute({ email, password });
  const signIn = (password = PASSWORD, email = EMAIL) => application.signIn.execute({ email, password });
  return { ...application, ports, signUp, signIn };
}

describe('signing up', () => {
  it('opens an account on the free plan, once, whose password signs in, however the address is written', async () => {
    const { signUp, signIn } = setUp();
    const account = await signUp(PASSWORD, 'Dev@Example.com');
    expect(account).toMatchObject({ email: EMAIL, plan: PLANS.free, scopes: ['pets:read'] });
    expect(await signIn(PASSWORD, 'DEV@example.com')).toEqual(account);
    await expect(signUp(OTHER, 'DEV@example.com')).rejects.toMatchObject({ code: 'email_taken', kind: 'conflict' });
    expect(await signIn(OTHER)).toBeUndefined();
  });

  it.each([
    ['12 code points beyond the 16 bits of one', '🐈🐕🐇🐢'.repeat(3)],
    ['128 code points', '🐈🐕🐇🐢'.repeat(32)],
    ['four different characters', 'abdc'.repeat(3)],
    ['spaces and no digit', 'all in small letters'],
  ])('may have a password of %s', async (_what, password) => {
    const { signUp, signIn } = setUp();
    await signUp(password);
    expect(await signIn(password)).toBeDefined();
  });

  it.each([
    ['11 characters', 'abcdefghijk'],
    ['129 characters', 'x'.repeat(129)],
    ['text that is shorter than 12 once composed', 'e\u0301'.repeat(11)],
    ['the address itself', 'DEV@example.com'],
    ['a very common one', 'QwertyQwerty'],
    ['fewer than four different characters', 'abca'.repeat(3)],
    ['only white space', '\u3000\t'.repeat(8)],
    ['a lone surrogate', `\ud800${PASSWORD}`],
  ])('may not have %s as a password, and opens nothing', async (_what, password) => {
    const { signUp, listAccounts } = setUp();
    await expect(signUp(password)).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(await listAccounts.execute()).toEqual([]);
  });

  it('is told the problems of the address and of the password at once', async () => {
    const email = { field: 'email', rule: expect.stringContaining('must be an e-mail address') };
    const password = { field: 'password', rule: 'must be at least 12 characters' };
    await expect(setUp().signUp('short', 'nobody')).rejects.toMatchObject({ problems: [email, password] });
  });

  it('has the same password however its characters are composed', async () => {
    const { signUp, signIn } = setUp();
    await signUp('cafe\u0301 au lait, s’il vous plai\u0302t');
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
    const { signUp, signIn, openAccount, closeAccount, ports } = setUp();
    await signUp();
    await openAccount.execute({ email: 'operator@example.com' });
    const { id: accountId } = await signUp(PASSWORD, 'closed@example.com');
    expect(await closeAccount.execute({ accountId, password: PASSWORD })).toBe(true);
    ports.passwordHasher.verifications = 0;
    expect(await signIn(password, email)).toBeUndefined();
    expect(ports.passwordHasher.verifications).toBe(1);
  });

  it('by a text that can’t be a password costs no verification, and by no address no look-up', async () => {
    const { signUp, signIn, ports } = setUp();
    await signUp();
    const findByEmail = jest.spyOn(ports.credentials, 'findByEmail');
    for (const text of ['\ud800', 'x'.repeat(129)]) expect(await signIn(text)).toBeUndefined();
    expect(ports.passwordHasher.verifications).toBe(0);
    expect(await signIn(PASSWORD, 'dev\0@example.com')).toBeUndefined();
    expect(findByEmail).not.toHaveBeenCalled();
  });

  it('never opens an account without a password, whatever the hasher says', async () => {
    const { signIn, openAccount, ports } = setUp();
    await openAccount.execute({ email: EMAIL });
    jest.spyOn(ports.passwordHasher, 'verify').mockResolvedValue(true);
    for (const email of [EMAIL, 'nobody@example.com']) expect(await signIn(PASSWORD, email)).toBeUndefined();
  });

  it('rehashes the password only after the parameters changed, and ends no session', async () => {
    const { signUp, signIn, ports } = setUp();
    const account = await signUp();
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

describe('a signed-in person', () => {
  const wrong = { field: 'current', rule: 'is not your password' };
  const weak = { field: 'next', rule: 'must be at least 12 characters' };
  it.each([
    ['the current one is wrong', OTHER, OTHER, [wrong]],
    ['the new one is refused', PASSWORD, 'short', [weak]],
    ['both are', OTHER, 'short', [wrong, weak]],
  ])('keeps the password if %s', async (_what, current, next, problems) => {
    const { signUp, changePassword, signIn } = setUp();
    const account = await signUp();
    const changing = changePassword.execute({ accountId: account.id, current, next });
    await expect(changing).rejects.toMatchObject({ problems });
    expect(await signIn()).toEqual(account);
  });

  it('does neither where there is no password, or by a text that can’t be one, which costs no verification', async () => {
    const { signUp, openAccount, changePassword, closeAccount, ports } = setUp();
    const { id } = await signUp();
    const operators = await openAccount.execute({ email: 'operator@example.com' });
    for (const [accountId, current] of [
      [id, '\ud800'],
      [operators.id, PASSWORD],
      [99n as AccountId, PASSWORD],
    ] as const) {
      const changing = changePassword.execute({ accountId, current, next: OTHER });
      await expect(changing).rejects.toMatchObject({ problems: [{ field: 'current' }] });
      expect(await closeAccount.execute({ accountId, password: current })).toBe(false);
    }
    expect(ports.passwordHasher.verifications).toBe(0);
  });
});
