import { describe, expect, it } from '@jest/globals';
import { createApplication } from '../application.js';
import { accountMailPages, inMemoryPorts } from '../testing/index.js';
import { type AccountId, closedEmail } from './account.js';

const EMAIL = 'dev@example.com';
const PASSWORD = 'a horse, a battery';
const OTHER = 'a staple, correctly';

function setUp() {
  const ports = inMemoryPorts();
  const application = createApplication(ports, { accountMailPages });
  return {
    ...application,
    reset: async () => {
      await application.requestPasswordReset.execute({ email: EMAIL });
      await application.deliverAccountMails.execute();
      return ports.accountMailSender.resets.at(-1)?.token ?? '';
    },
    signedUp: () => application.signUp.execute({ email: EMAIL, password: PASSWORD }),
    signIn: () => application.signIn.execute({ email: EMAIL, password: PASSWORD }),
  };
}

describe('an account that is closed', () => {
  it('has an address of its own that opens no account', async () => {
    const { openAccount } = setUp();
    const [one, other] = [closedEmail(1n as AccountId), closedEmail(2n as AccountId)];
    expect(one).not.toBe(other);
    for (const email of [one, other]) {
      await expect(openAccount.execute({ email })).rejects.toMatchObject({ code: 'invalid_parameter' });
    }
  });

  it('has no working key, accepts no sign-in, and is not found', async () => {
    const { signedUp, issueKey, closeAccount, authenticate, signIn, getAccount, listAccounts } = setUp();
    const { id } = await signedUp();
    const { text } = await issueKey.execute({ accountId: id });
    expect(await closeAccount.execute({ accountId: id, password: PASSWORD })).toBe(true);
    await expect(authenticate.execute(text)).rejects.toMatchObject({ code: 'revoked_api_key' });
    await expect(issueKey.execute({ accountId: id })).rejects.toMatchObject({ code: 'not_found' });
    expect(await signIn()).toBeUndefined();
    expect(await getAccount.execute(id)).toBeUndefined();
    expect(await listAccounts.execute()).toEqual([]);
  });

  it('frees its address for a new account, which inherits nothing', async () => {
    const { signedUp, closeAccount, signUp, listKeys, issueKey } = setUp();
    const { id } = await signedUp();
    await issueKey.execute({ accountId: id });
    await closeAccount.execute({ accountId: id, password: PASSWORD });
    const anew = await signUp.execute({ email: EMAIL, password: OTHER });
    expect(anew.id).not.toBe(id);
    expect(await listKeys.execute({ email: EMAIL })).toEqual([]);
  });

  it('has no usable tokens', async () => {
    const { signedUp, closeAccount, reset, resetPassword } = setUp();
    const { id } = await signedUp();
    const token = await reset();
    await closeAccount.execute({ accountId: id, password: PASSWORD });
    expect(await resetPassword.execute({ token, password: OTHER })).toBeUndefined();
  });

  it('can be closed only with its password', async () => {
    const { signedUp, openAccount, closeAccount, getAccount } = setUp();
    const account = await signedUp();
    const operators = await openAccount.execute({ email: 'operator@example.com' });
    for (const { id } of [account, operators]) {
      expect(await closeAccount.execute({ accountId: id, password: OTHER })).toBe(false);
      expect(await getAccount.execute(id)).toBeDefined();
    }
    expect(await closeAccount.execute({ accountId: 99n as AccountId, password: PASSWORD })).toBe(false);
  });
});
