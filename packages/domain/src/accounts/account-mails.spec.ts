import { describe, expect, it } from '@jest/globals';
import { createApplication } from '../application.js';
import { DEFAULT_DELIVERY_POLICY, RefusedForGood } from '../deliveries/deliver-batch.js';
import { DAY, HOUR, later, SECOND } from '../kernel/clock.js';
import { accountMailPages, inMemoryPorts } from '../testing/index.js';
import type { AccountMailDelivery } from './deliver-account-mails.js';
import { MOST_PROOFS, PROOF_TTL } from './request-address-proof.js';
import { NOTICE_TTL } from './change-address.js';
import { MOST_ADDRESS_CHANGES } from './request-address-change.js';

const EMAIL = 'dev@example.com';
const PASSWORD = 'a horse, a battery';

async function setUp() {
  const ports = inMemoryPorts();
  const application = createApplication(ports, { accountMailPages });
  const account = await application.signUp.execute({ email: EMAIL, password: PASSWORD });
  const deliver = async () => {
    const deliveries: AccountMailDelivery[] = [];
    await application.deliverAccountMails.execute((delivery) => deliveries.push(delivery));
    return deliveries;
  };
  const { clock, accountMailSender: sender, accountMails: mails } = ports;
  return { ...application, account, clock, sender, mails, deliver };
}

describe('a mail to an account', () => {
  it('waits until a worker sends it, with a link to its page that works until it expires', async () => {
    const { deliver, sender, clock, proveAddress, account } = await setUp();
    const expiresAt = later(clock.now(), PROOF_TTL);
    expect(sender.delivered).toEqual([]);
    expect(await deliver()).toMatchObject([{ kind: 'proof', attempt: 1, outcome: 'sent' }]);
    const [mail] = sender.proofs;
    expect(mail).toMatchObject({ email: EMAIL, page: accountMailPages.proof, expiresAt });
    expect(mail?.token).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(await proveAddress.execute({ token: mail?.token ?? '' })).toMatchObject({ id: account.id });
    expect(await deliver()).toEqual([]);
  });

  it('is tried again with another token, and the links of all that arrive work', async () => {
    const { deliver, sender, clock, proveAddress } = await setUp();
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

  it('is given up after the last attempt, or at once where its address takes no mail', async () => {
    const { deliver, sender, clock, requestAddressProof, account } = await setUp();
    sender.failure = new Error('no');
    for (let attempt = 1; attempt < DEFAULT_DELIVERY_POLICY.attempts; attempt += 1) {
      expect(await deliver()).toMatchObject([{ attempt, outcome: 'postponed' }]);
      clock.advance(HOUR);
    }
    expect(await deliver()).toMatchObject([{ attempt: 16, outcome: 'failed' }]);
    clock.advance(PROOF_TTL);
    sender.failure = new RefusedForGood('no such mailbox');
    await requestAddressProof.execute(account);
    expect(await deliver()).toMatchObject([{ attempt: 1, outcome: 'failed' }]);
    clock.advance(HOUR);
    expect(await deliver()).toEqual([]);
  });

  it('is dropped once its link has expired', async () => {
    const { deliver, sender, clock, deliverAccountMails } = await setUp();
    clock.advance(PROOF_TTL);
    expect(await deliver()).toMatchObject([{ kind: 'proof', attempt: 1, outcome: 'dropped' }]);
    expect(sender.delivered).toEqual([]);
    expect(await deliverAccountMails.backlog()).toEqual({ queued: 0, oldest: undefined });
  });

  it('counts against what may be mailed to an account while it waits, and as one however often it is tried', async () => {
    const { deliver, sender, clock, requestAddressProof, account } = await setUp();
    sender.failure = new Error('no');
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await deliver();
      clock.advance(HOUR);
    }
    sender.failure = undefined;
    const asked: boolean[] = [];
    for (let count = 0; count < MOST_PROOFS; count += 1) asked.push(await requestAddressProof.execute(account));
    expect(asked).toEqual([true, true, false]);
    await deliver();
    expect(await requestAddressProof.execute(account)).toBe(false);
    expect(sender.proofs).toHaveLength(MOST_PROOFS);
  });
});

describe('the proof of an address', () => {
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

    it('gets three mails a day at the most, and none once it is proven', async () => {
      const { account, proofs, requestAddressProof, deliverAccountMails, proveAddress, clock, ports } = await setUp();
      expect(await createApplication(ports).requestAddressProof.execute(account)).toBe(false);
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
  });

  describe('an account whose address is unproven', () => {
    it('is neither given to the operator nor put on another plan, unless the operator says that it is fine', async () => {
      const { openAccount, changePlan } = await setUp();
      const unproven = { code: 'address_unproven', kind: 'conflict' };
      await expect(openAccount.execute({ email: EMAIL })).rejects.toMatchObject(unproven);
      await expect(changePlan.execute({ email: EMAIL, plan: { name: 'pro' } })).rejects.toMatchObject(unproven);
      expect(await openAccount.execute({ email: EMAIL, isUnprovenFine: true })).toMatchObject({
        plan: { name: 'free' },
      });
      const changed = await changePlan.execute({ email: EMAIL, plan: { name: 'pro' }, isUnprovenFine: true });
      expect(changed).toMatchObject({ plan: { name: 'pro' } });
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
});

describe('a change of address', () => {
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
});
