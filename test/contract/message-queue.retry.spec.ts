import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  HOUR,
  type Instant,
  instant,
  later,
  type Message,
  type MessageId,
  type MessageQuery,
  type MessageQueue,
  MINUTE,
  newMessageId,
} from '@adoption-store/domain';
import { type Adapters, everyAdapter } from './adapters.js';

const NOW = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));
const RACERS = 20;

describe.each(everyAdapter)('a message queue (%s)', (_name, open) => {
  let adapters: Adapters;
  let messages: MessageQueue;
  beforeAll(async () => {
    adapters = await open();
    messages = adapters.ports.messages;
  });
  afterAll(() => adapters.close());

  const openAccount = () =>
    adapters.ports.accounts.open({
      email: `${randomUUID()}@example.com`,
      plan: { name: 'free' },
      createdAt: NOW,
    });
  const add = ({ id: accountId }: Account, createdAt: Instant = NOW) =>
    messages.add({ id: newMessageId(adapters.ports.cryptography), accountId, text: 'Hello', createdAt });
  const claim = async (id: MessageId, now = NOW) =>
    (await messages.claim({ limit: 1_000, now, until: later(now, MINUTE) })).filter((each) => each.id === id);
  const claimOne = async (id: MessageId, now = NOW) => {
    const [claimed] = await claim(id, now);
    if (claimed === undefined) throw new Error('the message was not due');
    return claimed;
  };
  const failed = async (account: Account, createdAt?: Instant) => {
    const message = await add(account, createdAt);
    await messages.markFailed(await claimOne(message.id));
    return message;
  };
  const statusOf = async ({ accountId, id }: Message) => (await messages.findById(accountId, id))?.status;

  describe('a retry', () => {
    it('queues a failed message as if it had never been tried, and reports that it had failed', async () => {
      const message = await add(await openAccount());
      await messages.postpone(await claimOne(message.id), NOW);
      await messages.markFailed(await claimOne(message.id));
      const now = later(NOW, HOUR);
      expect(await messages.retry(message.id, now)).toBe('failed');
      expect(await statusOf(message)).toBe('queued');
      expect(await claim(message.id, later(now, -1))).toEqual([]);
      expect(await claim(message.id, now)).toMatchObject([{ failures: 0 }]);
      await messages.markSent(message.id);
    });

    it('changes no message that is queued or sent, and says which it is', async () => {
      const message = await add(await openAccount());
      expect(await messages.retry(message.id, NOW)).toBe('queued');
      const claimed = await claimOne(message.id);
      expect(await messages.retry(message.id, NOW)).toBe('queued');
      expect(await claim(message.id)).toEqual([]);
      await messages.markSent(claimed.id);
      expect(await messages.retry(message.id, NOW)).toBe('sent');
      expect(await statusOf(message)).toBe('sent');
      for (const unknown of ['msg_0', '', 'msg_\0']) {
        expect(await messages.retry(unknown as MessageId, NOW)).toBeUndefined();
      }
    });

    it('is done once, however many race with it, and then one claims the message', async () => {
      const message = await failed(await openAccount());
      const statuses = await Promise.all(Array.from({ length: RACERS }, () => messages.retry(message.id, NOW)));
      expect(statuses.filter((status) => status === 'failed')).toHaveLength(1);
      expect(new Set(statuses)).toEqual(new Set(['failed', 'queued']));
      const claims = await Promise.all(Array.from({ length: RACERS }, () => claim(message.id)));
      const claimed = [...claims.flat(), ...(await claim(message.id))];
      expect(claimed).toHaveLength(1);
      await messages.markSent(message.id);
    });

    it('voids every claim of before', async () => {
      const message = await add(await openAccount());
      const claimed = await claimOne(message.id);
      await messages.markFailed(claimed);
      await messages.retry(message.id, NOW);
      await messages.markFailed(claimed);
      await messages.postpone(claimed, later(NOW, HOUR));
      expect(await statusOf(message)).toBe('queued');
      expect(await claim(message.id)).toMatchObject([{ failures: 0 }]);
      await messages.markSent(message.id);
    });
  });

  describe('a list', () => {
    const idsOf = async (query: MessageQuery) => (await messages.list(query)).map(({ message }) => message.id);
    const inOrder = (some: readonly Message[]) =>
      [...some]
        .sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1))
        .map(({ id }) => id);

    it('has an account’s messages with their account, without their texts, the oldest first', async () => {
      const [account, other] = [await openAccount(), await openAccount()];
      const younger = await add(account, later(NOW, 1));
      const older = await failed(account);
      await add(other);
      const row = ({ id, createdAt }: Message, status: string) => ({
        account,
        message: { id, accountId: account.id, status, createdAt },
      });
      expect(await messages.list({ accountId: account.id })).toEqual([row(older, 'failed'), row(younger, 'queued')]);
      expect(await messages.list({ accountId: account.id, status: 'failed' })).toEqual([row(older, 'failed')]);
      await messages.markSent(younger.id);
      expect(await messages.list({ accountId: account.id })).toMatchObject([{}, { message: { status: 'sent' } }]);
    });

    it('of those that have failed has every account’s, and no others', async () => {
      const [account, other] = [await openAccount(), await openAccount()];
      const theirs = [await failed(account), await failed(other)];
      const queued = await add(account);
      const ids = await idsOf({ status: 'failed' });
      expect(ids).toEqual(expect.arrayContaining(theirs.map(({ id }) => id)));
      expect(ids).not.toContain(queued.id);
      await messages.markSent(queued.id);
    });

    it.each([
      ['of an account', 2_000],
      ['of those that have failed', 1_000],
    ])('%s comes in parts that leave none out and repeat none, also of one instant', async (kind, milliseconds) => {
      const account = await openAccount();
      const added: Message[] = [];
      for (let index = 0; index < 7; index += 1) added.push(await failed(account, instant(milliseconds + (index % 2))));
      const filter = kind === 'of an account' ? { accountId: account.id } : { status: 'failed' as const };
      let found: readonly MessageId[] = [];
      let after: MessageQuery['after'];
      while (found.length < added.length) {
        const part = await messages.list({ ...filter, after, limit: 2 });
        found = [...found, ...part.map(({ message }) => message.id)];
        after = part.at(-1)?.message;
      }
      expect(found.slice(0, added.length)).toEqual(inOrder(added));
    });
  });
});
