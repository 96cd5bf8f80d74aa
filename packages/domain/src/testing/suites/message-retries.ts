import type { Account } from '../../accounts/account.js';
import type { Ports } from '../../application.js';
import { HOUR, type Instant, instant, later, MINUTE } from '../../kernel/clock.js';
import type { Message, MessageId, MessageState } from '../../messages/message.js';
import type { MessageQuery } from '../../messages/message-queue.js';
import { atOnce, NOON, type Unique } from './fixtures.js';
import type { TestFramework } from './framework.js';

/** The guarantees of every `MessageQueue` to an operator: lists, and retries of messages that have failed. */
export function messageRetries(
  { describe, it, expect }: TestFramework,
  opened: () => Pick<Ports, 'accounts' | 'messages'>,
  unique: Unique,
): void {
  const openAccount = () => opened().accounts.open(unique.account());
  const add = ({ id: accountId }: Account, createdAt = NOON) =>
    opened().messages.add({ id: unique.name() as MessageId, accountId, text: 'Hello', createdAt });
  const claim = async (id: MessageId) =>
    (await opened().messages.claim({ limit: 1_000, lease: MINUTE })).filter((each) => each.id === id);
  const claimOne = async (id: MessageId) => {
    const [claimed] = await claim(id);
    if (claimed === undefined) throw new Error('the message was not due');
    return claimed;
  };
  const failed = async (account: Account, createdAt?: Instant) => {
    const message = await add(account, createdAt);
    await opened().messages.markFailed(await claimOne(message.id));
    return message;
  };
  const statusOf = async ({ accountId, id }: Message) => (await opened().messages.findById(accountId, id))?.status;

  describe('a retry', () => {
    /** Queues it with one more failed attempt than it had, so that the number tells how many retries there were. */
    const countUp = (state: MessageState | undefined): MessageState => ({
      status: 'queued',
      failures: (state?.failures ?? 0) + 1,
    });

    it('stores what is decided, makes the message due at once, and voids every claim of before', async () => {
      const message = await add(await openAccount());
      await opened().messages.postpone(await claimOne(message.id), 0);
      const claimed = await claimOne(message.id);
      await opened().messages.markFailed(claimed);
      await opened().messages.retry(message.id, (state) => {
        expect(state).toMatchObject({ status: 'failed', failures: 1 });
        return countUp(state);
      });
      await opened().messages.markFailed(claimed);
      await opened().messages.postpone(claimed, HOUR);
      expect(await statusOf(message)).toBe('queued');
      expect(await claim(message.id)).toMatchObject([{ failures: 2, number: claimed.number + 2 }]);
      await opened().messages.markSent(message.id);
    });

    it('changes nothing if it is refused, as it can be if there is no such message', async () => {
      const refuse = (state: MessageState | undefined) => {
        throw new Error(state?.status ?? 'unknown');
      };
      const message = await failed(await openAccount());
      await expect(opened().messages.retry(message.id, refuse)).rejects.toThrow('failed');
      expect(await statusOf(message)).toBe('failed');
      expect(await claim(message.id)).toEqual([]);
      for (const unknown of ['msg_0', '', 'msg_\0']) {
        await expect(opened().messages.retry(unknown as MessageId, refuse)).rejects.toThrow('unknown');
      }
    });

    it('is decided on what the one before has stored, however many race', async () => {
      const message = await failed(await openAccount());
      await atOnce(20, () => opened().messages.retry(message.id, countUp));
      expect(await claim(message.id)).toMatchObject([{ failures: 20 }]);
      await opened().messages.markSent(message.id);
    });
  });

  describe('a list', () => {
    const idsOf = async (query: MessageQuery) => (await opened().messages.list(query)).map(({ message }) => message.id);
    const inOrder = (some: readonly Message[]) =>
      [...some]
        .sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1))
        .map(({ id }) => id);

    it('has an account’s messages with their account, without their texts, the oldest first', async () => {
      const [account, other] = [await openAccount(), await openAccount()];
      const younger = await add(account, later(NOON, 1));
      const older = await failed(account);
      await add(other);
      const row = ({ id, createdAt }: Message, status: string) => ({
        account,
        message: { id, accountId: account.id, status, createdAt },
      });
      expect(await opened().messages.list({ accountId: account.id })).toEqual([
        row(older, 'failed'),
        row(younger, 'queued'),
      ]);
      expect(await opened().messages.list({ accountId: account.id, status: 'failed' })).toEqual([row(older, 'failed')]);
      await opened().messages.markSent(younger.id);
      expect(await opened().messages.list({ accountId: account.id })).toMatchObject([
        {},
        { message: { status: 'sent' } },
      ]);
    });

    it('of those that have failed has every account’s, and no others', async () => {
      const [account, other] = [await openAccount(), await openAccount()];
      const theirs = [await failed(account), await failed(other)];
      const queued = await add(account);
      const ids = await idsOf({ status: 'failed' });
      for (const { id } of theirs) expect(ids).toContain(id);
      expect(ids).not.toContain(queued.id);
      await opened().messages.markSent(queued.id);
    });

    for (const [kind, milliseconds] of [
      ['of an account', 2_000],
      ['of those that have failed', 1_000],
    ] as const)
      it(`${kind} comes in parts that leave none out and repeat none, also of one instant`, async () => {
        const account = await openAccount();
        const added: Message[] = [];
        for (let index = 0; index < 7; index += 1)
          added.push(await failed(account, instant(milliseconds + (index % 2))));
        const filter = kind === 'of an account' ? { accountId: account.id } : { status: 'failed' as const };
        let found: readonly MessageId[] = [];
        let after: MessageQuery['after'];
        while (found.length < added.length) {
          const part = await opened().messages.list({ ...filter, after, limit: 2 });
          found = [...found, ...part.map(({ message }) => message.id)];
          after = part.at(-1)?.message;
        }
        expect(found.slice(0, added.length)).toEqual(inOrder(added));
      });
  });
}
