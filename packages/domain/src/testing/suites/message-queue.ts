import { type Account, type AccountId, closedEmail } from '../../accounts/account.js';
import { HOUR, instant, later, MINUTE } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import type { PagePosition } from '../../kernel/page.js';
import {
  decideMessageRetry,
  decideQueueing,
  deliveryEnded,
  type Message,
  type MessageId,
  type MessageState,
  type MessageStatus,
  type QueueingState,
} from '../../messages/message.js';
import type { MessagePosition, MessageQuery, MessageQueue } from '../../messages/message-queue.js';
import { deliveryQueue } from './delivery-queue.js';
import {
  addMessage,
  asStored,
  atOnce,
  claimOne,
  closeAccount,
  expectDecidedOnce,
  NOON,
  oftenerThanAPage,
  openBefore,
  openWithPassword,
  present,
  race,
  stateOf,
  storedEvents,
  undo,
  Unique,
} from './fixtures.js';
import type { OpenedQueue, OpenQueue, TestFramework } from './framework.js';
import { TEXTS } from './samples.js';

type Needed = 'accounts' | 'credentials' | 'events' | 'idempotency' | 'messages';

const idsOf = <Id>(items: readonly { readonly id: Id }[]) => items.map(({ id }) => id);

/** The guarantees of every `MessageQueue`. */
export function messageQueueSuite(framework: TestFramework, name: string, open: OpenQueue<Needed>): void {
  const { describe, it, beforeAll, afterEach, expect } = framework;
  describe(`a message queue (${name})`, () => {
    const unique = new Unique();
    let adapters: OpenedQueue<Needed>;
    let messages: MessageQueue;
    let account: Account;
    openBefore(framework, open, async (opened) => {
      adapters = opened;
      messages = adapters.ports.messages;
      account = await openAccount();
    });
    // Each test begins without messages that wait.
    afterEach(async () => {
      await letPass(1_000 * HOUR);
      for (const { id } of await claim()) await messages.markSent(id);
    });

    const letPass = async (milliseconds: number) => adapters.letPass(milliseconds);
    const openAccount = () => adapters.ports.accounts.open(unique.account());
    const newId = () => unique.name() as MessageId;
    const add = (text = 'Hello', createdAt = NOON, { id: accountId } = account) =>
      addMessage(adapters.ports, { id: newId(), accountId, text, createdAt });
    const claim = () => messages.claim({ limit: 1_000, lease: MINUTE });
    const addFailed = async (createdAt = NOON, by = account) => {
      const message = await add('Hello', createdAt, by);
      await messages.markFailed(present((await claim()).find(({ id }) => id === message.id)));
      return message;
    };
    const statusOf = async ({ accountId, id }: Message) => (await messages.findById(accountId, id))?.status;

    it('lists an account’s own messages with their texts, newest first, forwards and back', async () => {
      const own = await openAccount();
      const added: Message[] = [];
      // Two at each time, so that the id decides.
      for (let index = 0; index < 7; index += 1)
        added.push(await add(`text ${index}`, later(NOON, Math.floor(index / 2) * MINUTE), own));
      await add();
      const expected = added.toSorted((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
      expect(await messages.listOwn({ accountId: own.id, limit: 7 })).toEqual(expected);
      const questions: [PagePosition<MessagePosition>, Message[]][] = [[{}, expected.slice(0, 2)]];
      for (const [place, message] of expected.entries()) {
        questions.push([{ after: message }, expected.slice(place + 1, place + 3)]);
        questions.push([{ before: message }, expected.slice(Math.max(0, place - 2), place)]);
      }
      for (const [asked, found] of questions) {
        const page = await messages.listOwn({ accountId: own.id, limit: 2, ...asked });
        expect({ asked, found: idsOf(page) }).toEqual({ asked, found: idsOf(found) });
      }
    });

    describe('of 101 messages', () => {
      let own: Account;
      let ids: readonly MessageId[];
      beforeAll(async () => {
        own = await openAccount();
        ids = idsOf(await oftenerThanAPage(() => add('Hello', NOON, own))).sort();
        for (const claimed of await claim()) await messages.markFailed(claimed);
      });
      const before = { id: '' as MessageId, createdAt: NOON };
      const [oldestFirst, newestFirst] = [() => ids, () => ids.toReversed()];
      const listed = async (query: MessageQuery) => idsOf((await messages.list(query)).map(({ message }) => message));
      for (const [question, expected, ask] of [
        ['list', oldestFirst, () => listed({ accountId: own.id, limit: 101 })],
        ['list without a limit', oldestFirst, () => listed({ accountId: own.id })],
        ['list of those that have failed', oldestFirst, () => listed({ status: 'failed', after: before, limit: 101 })],
        ['listOwn', newestFirst, async () => idsOf(await messages.listOwn({ accountId: own.id, limit: 101 }))],
        [
          'listOwn back',
          newestFirst,
          async () => idsOf(await messages.listOwn({ accountId: own.id, before, limit: 101 })),
        ],
      ] as const)
        it(`gives as many as are asked for: ${question}`, async () => {
          expect(await ask()).toEqual(expected());
        });
    });

    it('keeps the messages of a closed account, lists them and has them sent', async () => {
      const own = await openWithPassword(adapters.ports.credentials, unique);
      const { id } = await add('Hello', NOON, own);
      await closeAccount(adapters.ports, own);
      const account = { id: own.id, email: closedEmail(own.id) };
      expect(await messages.list({ accountId: own.id })).toMatchObject([{ account, message: { id } }]);
      expect(await claimOne(messages)).toMatchObject({ id, from: account.email });
    });

    it('makes each decision once', () => {
      const message = { id: newId(), accountId: account.id, text: 'Hello', createdAt: NOON };
      const queueing = { message, limit: 1 };
      const queue = (state: QueueingState) => decideQueueing(state, queueing);
      const again = () => ({ status: 'queued', failures: 0 }) as const;
      return expectDecidedOnce(framework, {
        add: (counted) => messages.add(queueing, counted(queue)),
        retry: (counted) => messages.retry(message.id, counted(again)),
      });
    });

    it('claims the messages of others while an account is locked', async () => {
      const [own, other] = [await openAccount(), await openAccount()];
      await add('Hello', NOON, own);
      await messages.claim({ limit: 1, lease: MINUTE });
      const { id } = await add('Hello', NOON, other);
      await undo(adapters.ports, own, async (transaction) => {
        await addMessage(
          adapters.ports,
          { id: newId(), accountId: own.id, text: 'Hello', createdAt: NOON },
          transaction,
        );
        expect(idsOf(await claim())).toContain(id);
      });
    });

    it('has no message whose transaction has failed', async () => {
      const message = { id: newId(), accountId: account.id, text: 'Hello', createdAt: NOON };
      await undo(adapters.ports, account, (transaction) => addMessage(adapters.ports, message, transaction));
      expect(await messages.findById(account.id, message.id)).toBeUndefined();
      expect(await claim()).toEqual([]);
    });

    describe('the event of a message', () => {
      const eventsOf = ({ id }: Account) => storedEvents(adapters.ports, id);
      const ended = (message: Message, ...statuses: readonly ('sent' | 'failed')[]) =>
        asStored(...statuses.map((status) => deliveryEnded(message, status)));

      it('is stored for its account once it is sent, and once only', async () => {
        const own = await openAccount();
        const message = await add('Hello', NOON, own);
        expect(await eventsOf(own)).toEqual([]);
        for (let times = 0; times < 2; times += 1) await messages.markSent(message.id);
        expect(await eventsOf(own)).toEqual(ended(message, 'sent'));
      });

      it('is stored each time that it has failed, and if it is sent all the same', async () => {
        const own = await openAccount();
        const message = await addFailed(NOON, own);
        expect(await eventsOf(own)).toEqual(ended(message, 'failed'));
        await messages.retry(message.id, (state) => decideMessageRetry(state, message));
        await messages.markFailed(await claimOne(messages));
        await messages.markSent(message.id);
        expect(await eventsOf(own)).toEqual(ended(message, 'failed', 'failed', 'sent'));
        expect(await statusOf(message)).toBe('sent');
      });

      it('is not stored for a failure after a later claim, nor after it was sent', async () => {
        const own = await openAccount();
        const message = await add('Hello', NOON, own);
        const stale = await claimOne(messages);
        await letPass(MINUTE);
        const claimed = await claimOne(messages);
        await messages.markFailed(stale);
        expect(await adapters.ports.events.oldestUnpublished()).toBeUndefined();
        await messages.markSent(message.id);
        await messages.markFailed(claimed);
        expect(await eventsOf(own)).toEqual(ended(message, 'sent'));
      });
    });

    it('deletes sent and failed messages up to an instant in batches, and never a queued one', async () => {
      const old = later(NOON, -HOUR);
      const [sent, failed, queued] = [await add('sent', old), await addFailed(old), await add('queued', old)];
      const young = await add('young', later(old, 1));
      for (const { id } of [sent, young]) await messages.markSent(id);
      expect(await messages.purge(later(old, -1))).toBe(0);
      expect(await messages.purge(old)).toBe(2);
      expect(await messages.purge(old)).toBe(0);
      expect([await statusOf(sent), await statusOf(failed)]).toEqual([undefined, undefined]);
      expect([await statusOf(queued), await statusOf(young)]).toEqual(['queued', 'sent']);
    });

    it('passes the trace and the id of the request that queued it to the claimer', async () => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const request = { traceparent, requestId: 'a-request' };
      const [id, accountId] = [newId(), account.id];
      const queued = { id, accountId, text: 'Hello', createdAt: NOON, ...request };
      const message = await addMessage(adapters.ports, queued);
      for (const name of Object.keys(request)) expect(message).not.toHaveProperty(name);
      expect(await claimOne(messages)).toMatchObject(request);
      await messages.markSent(id);
      await add();
      expect(await claimOne(messages)).toMatchObject({ traceparent: undefined, requestId: undefined });
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
      for (const text of [...TEXTS, '🐈'.repeat(4_096)]) {
        const { status, ...message } = await add(text);
        expect(await messages.findById(account.id, message.id)).toEqual({ ...message, status });
        const sender = { from: account.email, isProven: true };
        expect(await claimOne(messages)).toEqual({ ...message, text, number: 1, failures: 0, ...sender });
        await messages.markSent(message.id);
      }
    });

    it('tells claimers whether the sender’s address is proven', async () => {
      const stranger = await openWithPassword(adapters.ports.credentials, unique);
      await add('Hello', NOON, stranger);
      expect(await claimOne(messages)).toMatchObject({ from: stranger.email, isProven: false });
    });

    deliveryQueue(framework, () => ({
      queue: messages,
      openAccount,
      add: async (createdAt, by) => (await add('Hello', createdAt, by)).id,
      letPass,
    }));

    describe('a message', () => {
      const limit = 3;
      const newMessage = (by: Account) => ({ id: newId(), accountId: by.id, text: 'Hello', createdAt: NOON });
      const addTo = (by: Account) => {
        const queueing = { message: newMessage(by), limit };
        return messages.add(queueing, (state) => decideQueueing(state, queueing));
      };

      it('is decided on with the number of its account’s queued ones, also claimed and postponed, up to the limit', async () => {
        const own = await openAccount();
        const [sent, failed] = [await add('sent', NOON, own), await addFailed(NOON, own)];
        await messages.markSent(sent.id);
        await add();
        const queuedFor = () =>
          stateOf<QueueingState>((refuse) => messages.add({ message: newMessage(own), limit }, refuse));
        for (let queued = 0; queued < limit; queued += 1) {
          expect(await queuedFor()).toEqual({ queued });
          await add('Hello', NOON, own);
          for (const claimed of await claim()) await messages.postpone(claimed, HOUR);
        }
        await messages.retry(failed.id, () => ({ status: 'queued', failures: 0 }));
        expect(await queuedFor()).toEqual({ queued: limit });
      });

      it('is refused beyond the limit, however many are added at once, and no other account’s is', async () => {
        const [own, other] = [await openAccount(), await openAccount()];
        const { values, reasons } = await race(20, (index) => addTo(index % 5 === 0 ? other : own).then(() => index));
        expect(values.filter((index) => index % 5 > 0)).toHaveLength(limit);
        expect(values.filter((index) => index % 5 === 0)).toHaveLength(limit);
        for (const reason of reasons) expect(reason).toMatchObject({ code: 'too_many_messages' });
        await messages.markSent(present((await claim()).find(({ accountId }) => accountId === own.id)).id);
        await addTo(own);
        await expect(addTo(own)).rejects.toMatchObject({ code: 'too_many_messages' });
      });
    });

    describe('a retry', () => {
      /** Queues it with one more failed attempt than it had, so that the number tells how many retries there were. */
      const countUp = (state: MessageState | undefined): MessageState => ({
        status: 'queued',
        failures: (state?.failures ?? 0) + 1,
      });

      it('stores what is decided, makes the message due at once, and voids every claim of before', async () => {
        const message = await add();
        await messages.postpone(await claimOne(messages), 0);
        const claimed = await claimOne(messages);
        await messages.markFailed(claimed);
        await messages.retry(message.id, (state) => {
          expect(state).toMatchObject({ status: 'failed', failures: 1 });
          return countUp(state);
        });
        await messages.markFailed(claimed);
        await messages.postpone(claimed, HOUR);
        expect(await statusOf(message)).toBe('queued');
        expect(await claim()).toMatchObject([{ failures: 2, number: claimed.number + 2 }]);
      });

      it('changes nothing if it is refused, as it can be if there is no such message', async () => {
        const message = await addFailed();
        const stateFor = (id: string) => stateOf((refuse) => messages.retry(id as MessageId, refuse));
        expect(await stateFor(message.id)).toMatchObject({ status: 'failed', failures: 0 });
        expect(await statusOf(message)).toBe('failed');
        expect(await claim()).toEqual([]);
        for (const unknown of ['msg_0', '', 'msg_\0']) expect(await stateFor(unknown)).toBeUndefined();
      });

      it('is decided on what the one before has stored, however many race', async () => {
        const message = await addFailed();
        await atOnce(20, () => messages.retry(message.id, countUp));
        expect(await claim()).toMatchObject([{ failures: 20 }]);
      });
    });

    describe('a list', () => {
      it('has an account’s messages with their account, without their texts, the oldest first', async () => {
        const own = await openAccount();
        const younger = await add('Hello', later(NOON, 1), own);
        const older = await addFailed(NOON, own);
        await add();
        const list = (status?: 'failed') => messages.list({ accountId: own.id, status });
        const shown = ({ id, accountId, createdAt }: Message, status: MessageStatus) => ({
          account: own,
          message: { id, accountId, status, createdAt },
        });
        expect(await list()).toEqual([shown(older, 'failed'), shown(younger, 'queued')]);
        expect(await list('failed')).toEqual([shown(older, 'failed')]);
        await messages.markSent(younger.id);
        expect(await list()).toEqual([shown(older, 'failed'), shown(younger, 'sent')]);
      });

      it('of those that have failed has every account’s, and no others', async () => {
        const theirs = [await addFailed(), await addFailed(NOON, await openAccount())];
        const queued = await add();
        const ids = (await messages.list({ status: 'failed' })).map(({ message }) => message.id);
        for (const { id } of theirs) expect(ids).toContain(id);
        expect(ids).not.toContain(queued.id);
      });

      for (const [kind, milliseconds] of [
        ['of an account', 2_000],
        ['of those that have failed', 1_000],
      ] as const)
        it(`${kind} comes in parts that leave none out and repeat none, also of one instant`, async () => {
          const own = await openAccount();
          const added: Message[] = [];
          for (let index = 0; index < 7; index += 1)
            added.push(await addFailed(instant(milliseconds + (index % 2)), own));
          const filter = kind === 'of an account' ? { accountId: own.id } : { status: 'failed' as const };
          const found: MessageId[] = [];
          let after: MessageQuery['after'];
          while (found.length < added.length) {
            const part = await messages.list({ ...filter, after, limit: 2 });
            expect(part.length).toBeLessThanOrEqual(2);
            found.push(...part.map(({ message }) => message.id));
            after = part.at(-1)?.message;
          }
          const inOrder = added.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
          expect(found.slice(0, added.length)).toEqual(inOrder.map(({ id }) => id));
        });
    });
  });
}
