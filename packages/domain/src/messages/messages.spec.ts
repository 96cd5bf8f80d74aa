import { testPolicy } from '../testing/in-memory-application.js';
import { describe, expect, it, jest } from '@jest/globals';
import { createApplication } from '../application.js';
import type { AccountId } from '../accounts/account.js';
import { HOUR, instant, later, SECOND } from '../kernel/clock.js';
import { DomainError, kernelErrors } from '../kernel/errors.js';
import { decideFailure, type DeliveryPolicy, pauseAfter, PermanentFailure } from '../deliveries/deliver-batch.js';
import { decisions, inMemoryPorts, ManualClock } from '../testing/index.js';
import type { MessageReport } from './use-cases.js';
import {
  decideQueueing,
  decideMessageRetry,
  DEFAULT_MESSAGE_LIMIT,
  type Message,
  type MessageId,
  messageManagementErrors,
} from './message.js';

async function openStore(delivery: Partial<DeliveryPolicy> = {}, messageLimit?: number) {
  const ports = inMemoryPorts();
  const application = createApplication(ports, testPolicy(messageLimit === undefined ? {} : { messageLimit }), {
    delivery,
  });
  const { id: accountId } = await application.openAccount.execute({ email: 'dev@example.com' });
  const queue = (text: string) => application.queueMessage.execute({ accountId, text });
  const statusOf = async (id: string) => (await application.getMessage.execute({ accountId, id })).status;
  /** Delivers one batch and returns the outcomes. */
  const deliver = async () => {
    const deliveries: MessageReport[] = [];
    const onAttempt = (each: MessageReport) => deliveries.push(each);
    return { ...(await application.deliverMessages.execute({ onAttempt })), deliveries };
  };
  const { clock, messageSender: sender } = ports;
  return { ...application, ports, accountId, clock, sender, queue, statusOf, deliver };
}

describe('a message', () => {
  it('is queued under an id that cannot be guessed', async () => {
    const { queue, accountId, clock, getMessage } = await openStore();
    const message = await queue(' Hello,\n🐈 ');
    const id = expect.stringMatching(/^msg_[0-9A-Za-z]{24}$/) as unknown;
    const text = ' Hello,\n🐈 ';
    expect(message).toEqual({ id, accountId, text, status: 'queued', createdAt: clock.now() });
    expect(await getMessage.execute({ accountId, id: message.id })).toEqual(message);
    expect((await queue('again')).id).not.toBe(message.id);
  });

  it('has 1 to 4096 characters, counted as code points', async () => {
    const { queue } = await openStore();
    expect((await queue('🐈'.repeat(4_096))).text).toHaveLength(8_192);
    await expect(queue('')).rejects.toMatchObject({ message: 'message must not be empty' });
    const long = queue('🐈'.repeat(4_097));
    await expect(long).rejects.toMatchObject({ message: 'message must be at most 4096 characters' });
    for (const text of ['a\0', '\udc00'])
      await expect(queue(text)).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  it('is refused while its account has a thousand that wait, or as many as the deployment says', async () => {
    for (const [most, { queue, deliver, clock }] of [
      [DEFAULT_MESSAGE_LIMIT, await openStore()],
      [2, await openStore({}, 2)],
    ] as const) {
      for (let count = 0; count < most; count += 1) await queue('Hello');
      await expect(queue('Hello')).rejects.toMatchObject({ code: 'too_many_messages' });
      clock.advance(SECOND);
      await deliver();
      await queue('Hello');
    }
  });

  it('is shown to its account among its own, newest first in pages of 20, with the way there and back', async () => {
    const { queue, listMessages, accountId, clock } = await openStore();
    const oldest = await queue('message 0');
    for (let count = 1; count <= 20; count += 1) {
      clock.advance(SECOND);
      await queue(`message ${count}`);
    }
    const first = await listMessages.execute({ accountId });
    expect(first).toMatchObject({ items: { length: 20, 0: { text: 'message 20' } }, previous: undefined });
    const second = await listMessages.execute({ accountId, after: first.next });
    expect(second).toMatchObject({ items: [oldest], next: undefined });
    expect(await listMessages.execute({ accountId, before: second.previous })).toEqual(first);
  });
});

describe('delivering messages', () => {
  it('sends each queued message once, the oldest first', async () => {
    const { queue, deliver, sender, statusOf, clock } = await openStore({ batch: 10 });
    const first = await queue('one');
    clock.advance(1);
    const second = await queue('two');
    const deliveries = [first, second].map(({ id }) => ({ id, attempt: 1, outcome: 'sent' }));
    expect(await deliver()).toEqual({ mayHaveMore: false, deliveries });
    const [{ id }, from] = [first, 'dev@example.com'];
    expect(sender.delivered).toMatchObject([{ id, text: 'one', from }, { text: 'two' }]);
    expect(await statusOf(id)).toBe('sent');
    clock.advance(HOUR);
    expect(await deliver()).toEqual({ mayHaveMore: false, deliveries: [] });
  });

  it('says that more may be due before it sends a full batch, so that other lanes can send them meanwhile', async () => {
    const { queue, deliverMessages, sender } = await openStore({ batch: 2 });
    for (const text of ['one', 'two', 'three']) await queue(text);
    const sentBefore: number[] = [];
    const deliver = () => deliverMessages.execute({ onMore: () => sentBefore.push(sender.delivered.length) });
    await deliver();
    await deliver();
    expect(sentBefore).toEqual([0]);
  });

  it('is not changed by a worker whose clock is an hour ahead', async () => {
    const { queue, ports, deliver, sender, clock } = await openStore();
    const own = { ...ports, clock: new ManualClock(later(clock.now(), HOUR)) };
    const { deliverMessages } = createApplication(own, testPolicy());
    await queue('Hello');
    sender.failure = new Error('the mail server is away');
    const others: MessageReport[][] = [];
    sender.whileSending = () => void deliver().then(({ deliveries }) => others.push(deliveries));
    await deliverMessages.execute();
    expect(others).toEqual([[]]);
    sender.failure = undefined;
    clock.advance(5 * SECOND);
    expect((await deliver()).deliveries).toMatchObject([{ attempt: 2, outcome: 'sent' }]);
  });

  it('retries a failed message after a pause that is drawn', async () => {
    const { queue, deliver, sender, statusOf, clock, ports } = await openStore();
    const { id } = await queue('Hello');
    const reason = new Error('the mail server is away');
    sender.failure = reason;
    jest.spyOn(ports.cryptography, 'randomBytes').mockReturnValue(Uint8Array.of(255));
    expect((await deliver()).deliveries).toEqual([{ id, attempt: 1, outcome: 'postponed', reason }]);
    sender.failure = undefined;
    clock.advance(2.5 * SECOND - 1);
    expect((await deliver()).deliveries).toEqual([]);
    expect(await statusOf(id)).toBe('queued');
    clock.advance(1);
    expect((await deliver()).deliveries).toEqual([{ id, attempt: 2, outcome: 'sent' }]);
  });

  it('gives a message up only after the last attempt', async () => {
    const { queue, deliver, sender, statusOf, clock } = await openStore();
    const { id } = await queue('Hello');
    sender.failure = new Error('no');
    for (let attempt = 1; attempt < 16; attempt += 1) {
      expect((await deliver()).deliveries).toMatchObject([{ attempt, outcome: 'postponed' }]);
      clock.advance(HOUR);
    }
    expect((await deliver()).deliveries).toMatchObject([{ attempt: 16, outcome: 'failed' }]);
    expect(await statusOf(id)).toBe('failed');
  });

  it('begins no message that it could not finish before its claim of 30 seconds expires', async () => {
    const { queue, deliver, sender, clock } = await openStore({ batch: 10 });
    for (const text of ['one', 'two', 'three', 'four']) await queue(text);
    sender.whileSending = (timeout) => {
      clock.advance(timeout);
    };
    expect((await deliver()).deliveries).toHaveLength(2);
  });
});

describe('a message that has failed', () => {
  const failing = { attempts: 1, batch: 10 };

  it('is retried with all others that were written since an instant, each once', async () => {
    const { queue, deliver, sender, clock, retryFailedMessages, statusOf, ports } = await openStore(failing);
    sender.failure = new Error('no');
    const { id: old } = await queue('old');
    clock.advance(HOUR);
    const since = clock.now();
    for (let count = 0; count < 101; count += 1) await queue('young');
    while ((await deliver()).mayHaveMore);
    // Though each fails again meanwhile.
    const retry = jest.spyOn(ports.messages, 'retry').mockResolvedValue();
    expect(await retryFailedMessages.execute({ since })).toBe(101);
    expect(new Set(retry.mock.calls.map(([id]) => id)).size).toBe(101);
    retry.mockRestore();
    expect(await retryFailedMessages.execute({ since })).toBe(101);
    expect(await retryFailedMessages.execute({ since })).toBe(0);
    expect(await statusOf(old)).toBe('failed');
  });

  it('is retried with all others though some are retried or purged meanwhile, but not without the store', async () => {
    const { queue, deliver, sender, clock, retryFailedMessages, ports } = await openStore(failing);
    sender.failure = new Error('no');
    for (let count = 0; count < 4; count += 1) await queue('Hello');
    await deliver();
    const retry = jest.spyOn(ports.messages, 'retry');
    for (const code of [messageManagementErrors.message_not_failed, kernelErrors.not_found])
      retry.mockRejectedValueOnce(new DomainError(code, 'meanwhile'));
    expect(await retryFailedMessages.execute({ since: clock.now() })).toBe(2);
    for (const failure of [new DomainError(kernelErrors.service_unavailable, 'away'), new Error('away')]) {
      retry.mockRejectedValueOnce(failure);
      await expect(retryFailedMessages.execute({ since: clock.now() })).rejects.toBe(failure);
    }
  });

  it('is listed among all that have failed, and among those of its account', async () => {
    const { queue, deliver, sender, clock, listAllMessages } = await openStore(failing);
    sender.failure = new Error('no');
    const { id } = await queue('Hello');
    await deliver();
    clock.advance(1);
    const queued = await queue('Hello');
    const email = 'dev@example.com';
    expect(await listAllMessages.execute({ status: 'failed' })).toMatchObject([{ message: { id } }]);
    expect(await listAllMessages.execute({ email })).toMatchObject([
      { message: { id } },
      { message: { id: queued.id } },
    ]);
    expect(await listAllMessages.execute({ email, status: 'failed' })).toMatchObject([{ message: { id } }]);
    expect(await listAllMessages.execute({ email: 'nobody@example.com' })).toEqual([]);
  });
});

describe('the decision to queue a message', () => {
  const given = decisions({ it, expect }, decideQueueing);
  const accountId = 1n as AccountId;
  const message = { id: 'msg_1' as MessageId, accountId, text: 'Hello', createdAt: instant(0) };
  const queued: Message = { id: message.id, accountId, text: 'Hello', createdAt: instant(0), status: 'queued' };
  const asked = { message, limit: 2 };
  const most = 'the account has 2 messages that are queued, which is the most; wait until some are sent';
  given('an account with room for one', { queued: 1 }).when('one is sent', asked).then('it is queued', queued);
  given('an account at its limit', { queued: 2 }).when('one is sent', asked).thenRefused('too_many_messages', most);
  given('an account above its limit', { queued: 3 }).when('one is sent', asked).thenRefused('too_many_messages', most);
});

describe('the decision to retry a message', () => {
  const id = 'msg_1' as MessageId;
  const given = decisions({ it, expect }, decideMessageRetry);
  const [failed, sent, queued] = [
    { status: 'failed', failures: 16 },
    { status: 'sent', failures: 3 },
    { status: 'queued', failures: 0 },
  ] as const;
  const notFailed = 'message msg_1 has not failed: it is sent';
  given('a failed message', failed).when('it is retried', { id }).then('it has all its attempts', queued);
  given('a sent message', sent).when('it is retried', { id }).thenRefused('message_not_failed', notFailed);
  given('no message', undefined).when('it is retried', { id }).thenRefused('not_found', 'no message has the id msg_1');
});

describe('the decision after a failed attempt', () => {
  const attempts = 3;
  const reason = new Error('the mail server is away');
  const item = decisions({ it, expect }, decideFailure);
  const given = (failures: number) => item(`an item that had failed ${failures} times`, { failures });
  const fails = { attempts, reason, random: 0 };
  const isRefused = { ...fails, reason: new PermanentFailure('no such mailbox') };
  const pause = 10 * SECOND;
  given(1).when('it fails', fails).then('it is tried again', { status: 'queued', pause });
  given(2).when('it fails for the last time', fails).then('it is given up', { status: 'failed' });
  given(3).when('it fails though fewer attempts are allowed now', fails).then('it is given up', { status: 'failed' });
  const expires = { ...fails, attempts: Infinity, left: pause + 1 };
  const expiresBefore = { ...expires, left: pause };
  given(1).when('it fails before it expires', expires).then('it is tried again', { status: 'queued', pause });
  given(1).when('it expires before the next', expiresBefore).then('it is given up', { status: 'failed' });
  given(0).when('it is refused for good', isRefused).then('it is given up', { status: 'failed' });
});

describe('the pause after a failed attempt', () => {
  it.each([
    [1, 5],
    [2, 10],
    [10, 2_560],
    [11, 3_600],
    [50, 3_600],
  ])('number %d is %d s long, minus up to half', (attempt, seconds) => {
    expect(pauseAfter(attempt, 0)).toBe(seconds * SECOND);
    expect(pauseAfter(attempt, 1)).toBe((seconds * SECOND) / 2);
  });
});
