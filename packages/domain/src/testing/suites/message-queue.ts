import { decideSignUp } from '../../accounts/sign-in/credentials.js';
import type { Account, AccountId } from '../../accounts/account.js';
import { HOUR, later, MINUTE } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import type { PagePlace } from '../../kernel/page.js';
import type { Message, MessageId } from '../../messages/message.js';
import type { MessagePlace, MessageQueue } from '../../messages/message-queue.js';
import { deliveryQueue } from './delivery-queue.js';
import { checkDrawn, Draws } from './draws.js';
import { NOON, Unique } from './fixtures.js';
import type { OpenedQueue, OpenQueue, TestFramework } from './framework.js';
import { messageRetries } from './message-retries.js';

type Needed = 'accounts' | 'credentials' | 'messages';

/** The guarantees of every `MessageQueue`. */
export function messageQueueSuite(framework: TestFramework, name: string, open: OpenQueue<Needed>): void {
  const { describe, it, beforeAll, afterAll, afterEach, expect, random } = framework;
  describe(`a message queue (${name})`, () => {
    const unique = new Unique();
    const draws = new Draws(random);
    let adapters: OpenedQueue<Needed>;
    let messages: MessageQueue;
    let account: Account;
    beforeAll(async () => {
      adapters = await open();
      messages = adapters.ports.messages;
      account = await openAccount();
    });
    afterAll(() => adapters.close());
    // Each test begins without messages that wait.
    afterEach(async () => {
      await letPass(1_000 * HOUR);
      for (const { id } of await claim()) await messages.markSent(id);
    });

    const letPass = async (milliseconds: number) => adapters.letPass(milliseconds);
    const openAccount = () => adapters.ports.accounts.open(unique.account());
    const newId = () => unique.name() as MessageId;
    const add = (text = 'Hello', createdAt = NOON) =>
      messages.add({ id: newId(), accountId: account.id, text, createdAt });
    const claim = () => messages.claim({ limit: 1_000, lease: MINUTE });
    const claimOne = async () => {
      const [claimed, ...others] = await claim();
      if (claimed === undefined || others.length > 0) throw new Error('not one message was claimed');
      return claimed;
    };
    const statusOf = async (id: MessageId) => (await messages.findById(account.id, id))?.status;

    it('lists an account’s own messages with their texts, newest first, forwards and back', async () => {
      const own = await openAccount();
      const added: Message[] = [];
      for (let index = 0; index < 7; index += 1) {
        // Two at each time, so that the id decides.
        const createdAt = later(NOON, Math.floor(index / 2) * MINUTE);
        added.push(await messages.add({ id: newId(), accountId: own.id, text: `text ${index}`, createdAt }));
      }
      await add();
      const list = (place: PagePlace<MessagePlace>) => messages.listOwn({ accountId: own.id, limit: 2, ...place });
      const expected = added.toSorted((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
      expect(await messages.listOwn({ accountId: own.id, limit: 100 })).toEqual(expected);
      expect(await list({})).toEqual(expected.slice(0, 2));
      for (const [place, message] of expected.entries()) {
        expect(await list({ after: message })).toEqual(expected.slice(place + 1, place + 3));
        expect(await list({ before: message })).toEqual(expected.slice(Math.max(0, place - 2), place));
      }
    });

    it('returns the added message, queued', async () => {
      const message = await add();
      expect(message).toEqual({
        id: message.id,
        accountId: account.id,
        text: 'Hello',
        status: 'queued',
        createdAt: NOON,
      });
      expect(await messages.findById(account.id, message.id)).toEqual(message);
    });

    it('deletes sent and failed messages up to an instant in batches, and never a queued one', async () => {
      const old = later(NOON, -HOUR);
      const [sent, failed, queued, young] = [
        await add('sent', old),
        await add('failed', old),
        await add('queued', old),
        await add('young', later(old, 1)),
      ];
      for (const { id } of [sent, young]) await messages.markSent(id);
      const claim1 = (await claim()).find(({ id }) => id === failed.id);
      if (claim1 !== undefined) await messages.markFailed(claim1);
      expect(await messages.purge(later(old, -1))).toBe(0);
      expect(await messages.purge(old)).toBe(2);
      expect(await messages.purge(old)).toBe(0);
      expect([await statusOf(sent.id), await statusOf(failed.id)]).toEqual([undefined, undefined]);
      expect([await statusOf(queued.id), await statusOf(young.id)]).toEqual(['queued', 'sent']);
    });

    it('passes the trace and the id of the request that queued it to the claimer', async () => {
      const request = {
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        requestId: 'a-request',
      };
      const id = newId();
      const message = await messages.add({ id, accountId: account.id, text: 'Hello', createdAt: NOON, ...request });
      expect(message).not.toHaveProperty('traceparent');
      expect(message).not.toHaveProperty('requestId');
      expect(await claimOne()).toMatchObject(request);
      await messages.markSent(id);
      await add();
      expect(await claimOne()).toMatchObject({ traceparent: undefined, requestId: undefined });
    });

    it('returns undefined for another account’s message and for an unknown one', async () => {
      const { id } = await add();
      const other = await openAccount();
      expect(await messages.findById(other.id, id)).toBeUndefined();
      expect(await messages.findById(INT64_MAX as AccountId, id)).toBeUndefined();
      for (const unknown of ['msg_0', '', 'msg_\0', '\ud800', `${id} `, 'm'.repeat(10_000)]) {
        expect(await messages.findById(account.id, unknown as MessageId)).toBeUndefined();
      }
    });

    it('keeps every text exactly, for readers and claimers', async () => {
      const draw = () => draws.text(200);
      await checkDrawn(10, draw, async (text) => {
        const { id } = await add(text);
        expect(await messages.findById(account.id, id)).toMatchObject({ text });
        expect(await claimOne()).toEqual({
          id,
          accountId: account.id,
          text,
          createdAt: NOON,
          number: 1,
          failures: 0,
          from: account.email,
          isProven: true,
        });
        await messages.markSent(id);
      });
      const longest = '🐈'.repeat(4_096);
      await add(longest);
      expect(await claimOne()).toMatchObject({ text: longest });
    });

    it('tells claimers whether the sender’s address is proven', async () => {
      const email = `${unique.name()}@example.com`;
      const { id: accountId } = await adapters.ports.credentials.open(email, (holder) =>
        decideSignUp(holder, { email, scopes: undefined, passwordHash: 'hash' }, NOON),
      );
      await messages.add({ id: newId(), accountId, text: 'Hello', createdAt: NOON });
      expect(await claimOne()).toMatchObject({ from: email, isProven: false });
    });

    it('refuses a second message with the same id, and keeps the first', async () => {
      const { id } = await add('first');
      await expect(messages.add({ id, accountId: account.id, text: 'second', createdAt: NOON })).rejects.toThrow();
      expect(await messages.findById(account.id, id)).toMatchObject({ text: 'first' });
    });

    it('marks a message sent even if another worker gave it up', async () => {
      const { id } = await add();
      await messages.markFailed(await claimOne());
      await messages.markSent(id);
      expect(await statusOf(id)).toBe('sent');
    });

    deliveryQueue(framework, () => ({
      queue: messages,
      add: async (createdAt) => (await add('Hello', createdAt)).id,
      letPass,
    }));

    messageRetries(framework, () => adapters.ports, unique);
  });
}
