import type { Account } from '../../accounts/account.js';
import { newAnimal } from '../../animals/animal.js';
import type { IdempotencyRecords, IdempotentRequest } from '../../idempotency/idempotency-records.js';
import { DAY, later } from '../../kernel/clock.js';
import type { Transaction } from '../../kernel/transaction.js';
import type { MessageId } from '../../messages/message.js';
import { addMessage, atOnce, NOON, openBefore, race, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accounts' | 'animals' | 'idempotency' | 'messages';

/** The guarantees of every `IdempotencyRecords`. */
export function idempotencyRecordsSuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, beforeEach, expect } = framework;
  describe(`idempotency records (${name})`, () => {
    const unique = new Unique();
    let ports: Opened<Needed>['ports'];
    let records: IdempotencyRecords;
    let account: Account;
    let key: string;
    openBefore(framework, open, async (adapters) => {
      ports = adapters.ports;
      records = ports.idempotency;
      account = await ports.accounts.open(unique.account());
    });
    beforeEach(() => {
      key = unique.name();
    });

    /** Asks under the key of the test, at noon, unless another is given. */
    const ask = (work: (transaction: Transaction) => Promise<string>, changes: Partial<IdempotentRequest> = {}) => {
      const { now = NOON } = changes;
      const request = { accountId: account.id, key, fingerprint: 'asked', now, expiredUntil: later(now, -DAY) };
      return records.once({ ...request, ...changes }, work);
    };
    const answering = (answer: string) => () => Promise.resolve(answer);
    const never = () => Promise.reject(new Error('it has run'));

    it('returns the recorded answer exactly, with its request’s fingerprint, and runs nothing', async () => {
      const answered = { answer: '{"body":"Łuna 🐈\\u0000\\n"}', fingerprint: 'first' };
      const first = await ask(answering(answered.answer), { fingerprint: 'first' });
      expect(first).toEqual({ ...answered, isReplay: false });
      expect(await ask(never, { fingerprint: 'second' })).toEqual({ ...answered, isReplay: true });
    });

    it('distinguishes accounts and keys, also those of requests at once', async () => {
      const { id: accountId } = await ports.accounts.open(unique.account());
      const atOnce = await Promise.all([ask(answering('one')), ask(answering('two'), { accountId })]);
      expect(atOnce).toMatchObject([
        { answer: 'one', isReplay: false },
        { answer: 'two', isReplay: false },
      ]);
      for (const similar of [`${key} `, key.toUpperCase()])
        expect(await ask(answering('three'), { key: similar })).toMatchObject({ answer: 'three', isReplay: false });
      expect(await ask(never)).toMatchObject({ answer: 'one' });
    });

    it('undoes all changes of failed work, and leaves the key free', async () => {
      const messageId = unique.name() as MessageId;
      const failing = ask(async (transaction) => {
        const message = { id: messageId, accountId: account.id, text: 'Hello', createdAt: NOON };
        await addMessage(ports, message, transaction);
        throw new Error('the work failed');
      });
      await expect(failing).rejects.toThrow('the work failed');
      expect(await ports.messages.findById(account.id, messageId)).toBeUndefined();
      expect(await ask(answering('afterwards'))).toMatchObject({ answer: 'afterwards', isReplay: false });
    });

    it('runs the work of one of many concurrent callers; the others wait for its answer', async () => {
      let runs = 0;
      const answers = await atOnce(8, (index) => {
        const answering = async () => {
          runs += 1;
          // Long enough for the others to ask.
          await ports.animals.add(newAnimal({ name: 'Luna', categoryId: 1n }));
          return `answer of ${index}`;
        };
        return ask(answering, { fingerprint: `request of ${index}` });
      });
      expect(runs).toBe(1);
      const first = answers.findIndex(({ isReplay }) => !isReplay);
      const expected = { answer: `answer of ${first}`, fingerprint: `request of ${first}` };
      expect(answers).toEqual(answers.map((_, index) => ({ ...expected, isReplay: index !== first })));
    });

    it('runs the work of the next caller if the first one fails', async () => {
      let runs = 0;
      const work = async () => {
        runs += 1;
        if (runs === 1) throw new Error('the first one failed');
        return 'done';
      };
      const { reasons } = await race(5, () => ask(work));
      expect([runs, reasons.length]).toEqual([2, 1]);
      expect(await ask(never)).toMatchObject({ answer: 'done' });
    });

    it('runs a request again once its answer has expired, whether or not it was deleted', async () => {
      await ask(answering('old'));
      expect(await ask(never, { now: later(NOON, DAY - 1) })).toMatchObject({ answer: 'old' });
      const now = later(NOON, DAY);
      const answered = { answer: 'new', fingerprint: 'anew' };
      const again = await ask(answering('new'), { now, fingerprint: 'anew' });
      expect(again).toEqual({ ...answered, isReplay: false });
      expect(await ask(never, { now })).toEqual({ ...answered, isReplay: true });
    });

    it('deletes the answers up to an instant, and no others', async () => {
      await records.purge(later(NOON, 100 * DAY));
      const times = [0, 1, 2].map((milliseconds) => later(NOON, milliseconds));
      const asked = times.map((now) => ({ key: unique.name(), now }));
      for (const each of asked) await ask(answering('once'), each);
      expect(await records.purge(later(NOON, 1))).toBe(2);
      expect(await records.purge(later(NOON, 1))).toBe(0);
      const replays = [];
      for (const each of asked) replays.push((await ask(answering('again'), each)).isReplay);
      expect(replays).toEqual([false, false, true]);
    });
  });
}
