import { describe, expect, it } from '@jest/globals';
import { createApplication } from '../application.js';
import { DEFAULT_DELIVERY_POLICY, RefusedForGood } from '../deliveries/deliver-batch.js';
import { HOUR, later, SECOND } from '../kernel/clock.js';
import { accountMailPages, inMemoryPorts } from '../testing/index.js';
import type { AccountMailDelivery } from './deliver-account-mails.js';
import { MOST_PROOFS, PROOF_TTL } from './request-address-proof.js';

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

  it('is dropped where the password was changed, the address proven or the account closed before', async () => {
    const { deliver, sender, clock, requestPasswordReset, changePassword, account, closeAccount, requestAddressProof } =
      await setUp();
    await deliver();
    sender.failure = new Error('no');
    await requestPasswordReset.execute({ email: EMAIL });
    expect(await deliver()).toMatchObject([{ kind: 'reset', outcome: 'postponed' }]);
    sender.failure = undefined;
    await changePassword.execute({ accountId: account.id, current: PASSWORD, next: `${PASSWORD}, a staple` });
    expect(await deliver()).toMatchObject([{ kind: 'reset', outcome: 'dropped' }]);
    clock.advance(1);
    await requestAddressProof.execute(account);
    await closeAccount.execute({ accountId: account.id, password: `${PASSWORD}, a staple` });
    expect(await deliver()).toMatchObject([{ kind: 'proof', outcome: 'dropped' }]);
    expect(sender.delivered).toHaveLength(1);
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
