import { describe, expect, it } from '@jest/globals';
import { createApplication } from '../application.js';
import { DAY } from '../kernel/clock.js';
import { accountMailPages, inMemoryPorts } from '../testing/index.js';
import { MOST_PROOFS } from './request-address-proof.js';

const EMAIL = 'dev@example.com';
const PASSWORD = 'a horse, a battery';

async function setUp() {
  const ports = inMemoryPorts();
  const application = createApplication(ports, { accountMailPages });
  const account = await application.signUp.execute({ email: EMAIL, password: PASSWORD });
  await application.deliverAccountMails.execute();
  const { delivered: proofs } = ports.accountMailSender;
  return { ...application, ports, clock: ports.clock, account, proofs, token: proofs[0]?.token ?? '' };
}

describe('an address', () => {
  it('is proven by the token that is mailed to it at sign-up, once', async () => {
    const { account, token, proofs, proveAddress, getAccount, clock } = await setUp();
    expect(account.provenAt).toBeUndefined();
    const mail = { kind: 'proof', email: EMAIL, page: accountMailPages.proof, expiresAt: clock.now() + DAY };
    expect(proofs).toEqual([{ ...mail, token: expect.stringMatching(/^[0-9A-Za-z]{43}$/) }]);
    clock.advance(DAY - 1);
    const proven = await proveAddress.execute({ token });
    expect(proven).toEqual({ ...account, provenAt: clock.now() });
    expect(await getAccount.execute(account.id)).toEqual(proven);
    expect(await proveAddress.execute({ token })).toBeUndefined();
  });

  it('is not proven by a token that is unknown or a day old', async () => {
    const { token, proveAddress, clock } = await setUp();
    expect(await proveAddress.execute({ token: '' })).toBeUndefined();
    clock.advance(DAY);
    expect(await proveAddress.execute({ token })).toBeUndefined();
  });

  it('gets three mails a day at the most, and none once it is proven', async () => {
    const { account, proofs, requestAddressProof, deliverAccountMails, proveAddress, clock } = await setUp();
    for (let sent = proofs.length; sent < MOST_PROOFS; sent += 1) {
      expect(await requestAddressProof.execute(account)).toBe(true);
    }
    expect(await requestAddressProof.execute(account)).toBe(false);
    await deliverAccountMails.execute();
    expect(proofs).toHaveLength(MOST_PROOFS);
    clock.advance(DAY);
    expect(await requestAddressProof.execute(account)).toBe(true);
    await deliverAccountMails.execute();
    const proven = await proveAddress.execute({ token: proofs.at(-1)?.token ?? '' });
    if (proven === undefined) throw new Error('the address was not proven');
    expect(await requestAddressProof.execute(proven)).toBe(false);
    await deliverAccountMails.execute();
    expect(proofs).toHaveLength(MOST_PROOFS + 1);
  });

  it('gets no mail where none can be sent', async () => {
    const { account, ports } = await setUp();
    const { requestAddressProof } = createApplication(ports);
    expect(await requestAddressProof.execute(account)).toBe(false);
  });
});

describe('an account whose address is unproven', () => {
  it('is neither given to the operator nor put on another plan, unless the operator says that it is fine', async () => {
    const { openAccount, changePlan } = await setUp();
    const unproven = { code: 'address_unproven', kind: 'conflict' };
    await expect(openAccount.execute({ email: EMAIL })).rejects.toMatchObject(unproven);
    await expect(changePlan.execute({ email: EMAIL, plan: { name: 'pro' } })).rejects.toMatchObject(unproven);
    expect(await openAccount.execute({ email: EMAIL, isUnprovenFine: true })).toMatchObject({ plan: { name: 'free' } });
    const changed = await changePlan.execute({ email: EMAIL, plan: { name: 'pro' }, isUnprovenFine: true });
    expect(changed).toMatchObject({ plan: { name: 'pro' } });
  });

  it('is as any other once the address is proven', async () => {
    const { openAccount, changePlan, proveAddress, token } = await setUp();
    await proveAddress.execute({ token });
    expect(await openAccount.execute({ email: EMAIL })).toMatchObject({ email: EMAIL });
    expect(await changePlan.execute({ email: EMAIL, plan: { name: 'pro' } })).toMatchObject({ plan: { name: 'pro' } });
  });

  it('is as any other where no mail can be sent, unless another process sends it', async () => {
    const { ports } = await setUp();
    const plan = { name: 'pro' } as const;
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
