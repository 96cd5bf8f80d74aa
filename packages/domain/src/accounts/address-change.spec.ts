import { describe, expect, it } from '@jest/globals';
import { createApplication } from '../application.js';
import { DAY, HOUR } from '../kernel/clock.js';
import { accountMailPages, inMemoryPorts } from '../testing/index.js';
import { NOTICE_TTL } from './change-address.js';
import { MOST_ADDRESS_CHANGES } from './request-address-change.js';

const [OLD, NEW] = ['dev@example.com', 'new@example.com'];
const PASSWORD = 'a horse, a battery';

async function setUp() {
  const ports = inMemoryPorts();
  const application = createApplication(ports, { accountMailPages });
  const { id: accountId } = await application.signUp.execute({ email: OLD, password: PASSWORD });
  const { accountMailSender: sender, clock } = ports;
  const deliver = () => application.deliverAccountMails.execute();
  const request = (email = NEW, password = PASSWORD) =>
    application.requestAddressChange.execute({ accountId, email, password });
  const tokenFor = async (email = NEW) => {
    await request(email);
    await deliver();
    return sender.to(email, 'change').at(-1)?.token ?? '';
  };
  return { ...application, ports, clock, sender, accountId, deliver, request, tokenFor };
}

describe('the address of an account', () => {
  it('changes by the link that is mailed to the new one; sessions go on, and the former address is told', async () => {
    const {
      tokenFor,
      changeAddress,
      deliver,
      sender,
      clock,
      signIn,
      beginSession,
      resumeSession,
      getAccount,
      accountId,
    } = await setUp();
    const account = await signIn.execute({ email: OLD, password: PASSWORD });
    if (account === undefined) throw new Error('nobody signed in');
    const session = await beginSession.execute({ account });
    const token = await tokenFor('NEW@example.com'.toLowerCase());
    expect(await getAccount.execute(accountId)).toMatchObject({ email: OLD });
    const [mail] = sender.to(NEW, 'change');
    expect(mail).toMatchObject({ page: accountMailPages.change, expiresAt: clock.now() + HOUR });
    const changed = { email: NEW, provenAt: clock.now() };
    expect(await changeAddress.execute({ token })).toMatchObject(changed);
    expect(await changeAddress.execute({ token })).toBeUndefined();
    expect(await signIn.execute({ email: OLD, password: PASSWORD })).toBeUndefined();
    expect(await signIn.execute({ email: 'New@Example.com', password: PASSWORD })).toMatchObject(changed);
    expect(await resumeSession.execute(session ?? '')).toMatchObject({ account: changed });
    await deliver();
    expect(sender.to(OLD, 'changed')).toMatchObject([{ token: undefined }]);
    expect(sender.to(NEW, 'changed')).toEqual([]);
  });

  it('stays without the password, without a right address, and without a link that works', async () => {
    const { request, tokenFor, changeAddress, clock, sender, deliver, getAccount, accountId } = await setUp();
    const fields = (...names: string[]) => ({ problems: names.map((field) => expect.objectContaining({ field })) });
    for (const wrong of ['the wrong pass phrase', 'x'.repeat(200)]) {
      await expect(request(NEW, wrong)).rejects.toMatchObject(fields('password'));
      await expect(request('nobody', wrong)).rejects.toMatchObject(fields('email', 'password'));
    }
    for (const email of ['nobody', 'DEV@example.com'])
      await expect(request(email)).rejects.toMatchObject(fields('email'));
    await deliver();
    expect(sender.to(NEW, 'change')).toEqual([]);
    const token = await tokenFor();
    for (const wrong of ['', 'made-up']) expect(await changeAddress.execute({ token: wrong })).toBeUndefined();
    clock.advance(HOUR);
    expect(await changeAddress.execute({ token })).toBeUndefined();
    expect(await getAccount.execute(accountId)).toMatchObject({ email: OLD });
  });

  it('is asked for with the same answer if the new one has an account, whose owner gets the mail', async () => {
    const { request, tokenFor, changeAddress, signUp } = await setUp();
    await signUp.execute({ email: NEW, password: PASSWORD });
    expect(await request()).toBe(true);
    await expect(changeAddress.execute({ token: await tokenFor() })).rejects.toMatchObject({ code: 'email_taken' });
  });

  it('has at most three pending changes, and none where no mail can be sent', async () => {
    const { request, clock, ports, accountId } = await setUp();
    for (let count = 0; count < MOST_ADDRESS_CHANGES; count += 1)
      expect(await request(`${count}@example.com`)).toBe(true);
    expect(await request()).toBe(false);
    clock.advance(HOUR);
    expect(await request()).toBe(true);
    const { requestAddressChange } = createApplication(ports);
    await expect(requestAddressChange.execute({ accountId, email: NEW, password: PASSWORD })).rejects.toMatchObject({
      code: 'service_unavailable',
    });
  });

  it('has no pending change once the password was changed or reset', async () => {
    const { tokenFor, changeAddress, changePassword, requestPasswordReset, resetPassword, accountId, deliver, sender } =
      await setUp();
    const first = await tokenFor();
    await changePassword.execute({ accountId, current: PASSWORD, next: `${PASSWORD}, a staple` });
    expect(await changeAddress.execute({ token: first })).toBeUndefined();
    await changePassword.execute({ accountId, current: `${PASSWORD}, a staple`, next: PASSWORD });
    const second = await tokenFor();
    await requestPasswordReset.execute({ email: OLD });
    await deliver();
    await resetPassword.execute({ token: sender.resets.at(-1)?.token ?? '', password: 'another horse' });
    expect(await changeAddress.execute({ token: second })).toBeUndefined();
  });

  it('is told to the former address for two days at most', async () => {
    const { tokenFor, changeAddress, deliver, sender, clock, deliverAccountMails } = await setUp();
    await changeAddress.execute({ token: await tokenFor() });
    clock.advance(NOTICE_TTL - DAY);
    sender.failure = new Error('no');
    await deliver();
    sender.failure = undefined;
    clock.advance(DAY);
    await deliver();
    expect(sender.to(OLD, 'changed')).toEqual([]);
    expect(await deliverAccountMails.backlog()).toMatchObject({ queued: 0 });
  });
});
