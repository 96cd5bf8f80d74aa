import type { Account, AccountId } from '../../accounts/account.js';
import type { Claim } from '../../deliveries/delivery-queue.js';
import { HOUR, later, MINUTE, SECOND } from '../../kernel/clock.js';
import { INT64_MAX } from '../../kernel/int64.js';
import type { PagePlace } from '../../kernel/page.js';
import type { Message, MessageId, MessageStatus } from '../../messages/message.js';
import type { MessagePlace, MessageQueue } from '../../messages/message-queue.js';
import { checkDrawn, Draws } from './draws.js';
import { atOnce, NOON, Unique } from './fixtures.js';
import type { OpenedQueue, OpenQueue, TestFramework } from './framework.js';
import { messageRetries } from './message-retries.js';

type Needed = 'accounts' | 'messages';

const EVERYTHING = 100_000;
/** The time that a test may take: what is due then may be due by now. */
const MARGIN = 20 * SECOND;

const idsOf = (messages: readonly { readonly id: MessageId }[]) => messages.map(({ id }) => id);

/** The guarantees of every `MessageQueue`. */
export function messageQueueSuite(framework: TestFramework, name: string, open: OpenQueue<Needed>): void {
  const { describe, it, beforeAll, afterAll, afterEach, expect, until, random } = framework;
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
    const claim = ({ limit = EVERYTHING, lease = MINUTE } = {}) => messages.claim({ limit, lease });
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
      await checkDrawn(50, draw, async (text) => {
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
        });
        await messages.markSent(id);
      });
      const longest = '🐈'.repeat(4_096);
      await add(longest);
      expect(await claimOne()).toMatchObject({ text: longest });
    });

    it('refuses a second message with the same id, and keeps the first', async () => {
      const { id } = await add('first');
      await expect(messages.add({ id, accountId: account.id, text: 'second', createdAt: NOON })).rejects.toThrow();
      expect(await messages.findById(account.id, id)).toMatchObject({ text: 'first' });
    });

    it('claims due messages, the longest due first, and no more than asked for', async () => {
      const added: MessageId[] = [];
      for (const text of ['first', 'second', 'third', 'fourth']) {
        added.push((await add(text)).id);
        await letPass(1);
      }
      expect(await claim({ limit: 0 })).toEqual([]);
      expect(idsOf(await claim({ limit: 3 }))).toEqual(added.slice(0, 3));
      expect(idsOf(await claim({ limit: 3 }))).toEqual(added.slice(3));
      expect(await claim()).toEqual([]);
    });

    it('claims a message as soon as it is queued, whatever the clock says of the process that wrote it', async () => {
      const added: MessageId[] = [];
      for (const ahead of [HOUR, 0, -HOUR]) {
        added.push((await add('Hello', later(NOON, ahead))).id);
        await letPass(1);
      }
      expect(idsOf(await claim())).toEqual(added);
    });

    it('claims a message again only after its claim has expired, with the next claim number', async () => {
      const { id } = await add();
      for (const number of [1, 2, 3]) {
        expect(await claim()).toMatchObject([{ id, number, failures: 0 }]);
        await letPass(MINUTE - MARGIN);
        expect(await claim()).toEqual([]);
        await letPass(MARGIN);
      }
      expect(await statusOf(id)).toBe('queued');
    });

    it('claims a postponed message when it is due again, in that order', async () => {
      const one = await add('one');
      await messages.postpone(await claimOne(), 2 * HOUR);
      const other = await add('other');
      await messages.postpone(await claimOne(), HOUR);
      await letPass(HOUR - MARGIN);
      expect(await claim()).toEqual([]);
      await letPass(HOUR + MARGIN);
      expect(await claim()).toMatchObject([
        { id: other.id, number: 2, failures: 1 },
        { id: one.id, number: 2, failures: 1 },
      ]);
    });

    it('claims a released message at once, without a failed attempt', async () => {
      const { id } = await add();
      await messages.release(await claimOne());
      expect(await claim()).toMatchObject([{ id, number: 2, failures: 0 }]);
    });

    const ends: readonly [MessageStatus, (claimed: Claim<MessageId>) => Promise<void>][] = [
      ['sent', (claimed) => messages.markSent(claimed.id)],
      ['failed', (claimed) => messages.markFailed(claimed)],
    ];
    for (const [status, end] of ends)
      it(`never claims a message again once it has been ${status}`, async () => {
        const { id } = await add();
        await end(await claimOne());
        expect(await statusOf(id)).toBe(status);
        await letPass(1_000 * HOUR);
        expect(await claim()).toEqual([]);
        expect(await messages.backlog()).toEqual({ queued: 0, oldest: undefined });
      });

    it('ignores a claim that a later one has followed, except when the message was sent', async () => {
      const { id } = await add();
      const stale = await claimOne();
      await letPass(MINUTE);
      const current = await claimOne();
      await messages.postpone(stale, 0);
      await messages.release(stale);
      await messages.markFailed(stale);
      expect(await statusOf(id)).toBe('queued');
      expect(await claim()).toEqual([]);
      await messages.markSent(stale.id);
      await messages.postpone(current, 0);
      await messages.markFailed(current);
      expect(await statusOf(id)).toBe('sent');
      await letPass(HOUR);
      expect(await claim()).toEqual([]);
    });

    it('marks a message sent even if another worker gave it up', async () => {
      const { id } = await add();
      await messages.markFailed(await claimOne());
      await messages.markSent(id);
      expect(await statusOf(id)).toBe('sent');
    });

    it('reports how many messages wait, including claimed ones, and since when', async () => {
      expect(await messages.backlog()).toEqual({ queued: 0, oldest: undefined });
      await add('older', later(NOON, -HOUR));
      const claimed = await claimOne();
      await add('younger', later(NOON, -MINUTE));
      expect(await messages.backlog()).toEqual({ queued: 2, oldest: later(NOON, -HOUR) });
      await messages.markSent(claimed.id);
      expect(await messages.backlog()).toEqual({ queued: 1, oldest: later(NOON, -MINUTE) });
    });

    it('never gives one message to two concurrent claimers, and leaves none out', async () => {
      const added: Message[] = [];
      while (added.length < 2_000) {
        const wave = added.length;
        added.push(...(await atOnce(100, () => add('Hello', later(NOON, wave)))));
        await letPass(1);
      }
      const claimed: MessageId[] = [];
      await atOnce(20, async (index) => {
        for (
          let batch = await claim({ limit: 1 + index });
          batch.length > 0;
          batch = await claim({ limit: 1 + index })
        ) {
          claimed.push(...idsOf(batch));
          expect(batch.map(({ createdAt }) => createdAt)).toEqual(
            batch.map(({ createdAt }) => createdAt).sort((one, other) => one - other),
          );
        }
      });
      // A claim that came while others held the last ones has returned none.
      claimed.push(...idsOf(await claim()));
      expect(claimed.sort()).toEqual(idsOf(added).sort());
    });

    it('never gives an expired claim to two concurrent claimers', async () => {
      await atOnce(300, () => add());
      const lost = await claim();
      await letPass(MINUTE);
      const claims = await atOnce(20, () => claim({ limit: 100 }));
      const claimed = [...claims.flat(), ...(await claim())];
      expect(idsOf(claimed).sort()).toEqual(idsOf(lost).sort());
      expect(new Set(claimed.map(({ number }) => number))).toEqual(new Set([2]));
    });

    it('notifies watchers of each new message, until they stop', async () => {
      const calls = [0, 0];
      const watched = (index: 0 | 1) => async () => {
        const before = calls[index] ?? 0;
        await add();
        await until(() => (calls[index] ?? 0) > before);
      };
      const ends = [0, 1].map((index) => messages.watch(() => (calls[index] = (calls[index] ?? 0) + 1)));
      // One that has just begun to watch may miss some.
      await until(async () => {
        await add();
        return calls.every((count) => count > 0);
      });
      await watched(0)();
      await watched(1)();
      await ends[0]?.();
      const [ended] = calls;
      await watched(1)();
      expect(calls[0]).toBe(ended);
      await ends[1]?.();
    });

    messageRetries(framework, () => adapters.ports, unique);
  });
}
