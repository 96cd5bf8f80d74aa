import type { Account } from '../../accounts/account.js';
import { type AnimalId, newAnimal } from '../../animals/animal.js';
import type { IdempotencyRecords } from '../../idempotency/idempotency-records.js';
import { DAY, type Instant, later } from '../../kernel/clock.js';
import type { Transaction } from '../../kernel/transaction.js';
import type { MessageId } from '../../messages/message.js';
import { decidePlacement } from '../../orders/order.js';
import { addKey, atOnce, NOON, replaceKey, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

type Needed = 'accounts' | 'animals' | 'apiKeys' | 'idempotency' | 'messages' | 'orders';

/** The guarantees of every `IdempotencyRecords`. */
export function idempotencyRecordsSuite(framework: TestFramework, name: string, open: Open<Needed>): void {
  const { describe, it, beforeAll, afterAll, expect } = framework;
  describe(`idempotency records (${name})`, () => {
    const unique = new Unique();
    let adapters: Opened<Needed>;
    let ports: Opened<Needed>['ports'];
    let records: IdempotencyRecords;
    let account: Account;
    let other: Account;
    beforeAll(async () => {
      adapters = await open();
      ports = adapters.ports;
      records = ports.idempotency;
      account = await ports.accounts.open(unique.account());
      other = await ports.accounts.open(unique.account());
    });
    afterAll(() => adapters.close());

    const newKey = () => unique.name();
    const ask = (
      key: string,
      work: (transaction: Transaction) => Promise<string>,
      { now = NOON, fingerprint = 'asked', by = account }: { now?: Instant; fingerprint?: string; by?: Account } = {},
    ) => records.once({ accountId: by.id, key, fingerprint, now, expiredUntil: later(now, -DAY) }, work);
    const answering = (answer: string) => () => Promise.resolve(answer);
    const never = () => Promise.reject(new Error('it has run'));

    it('returns the recorded answer exactly, with its request’s fingerprint, and runs nothing', async () => {
      const key = newKey();
      const answer = '{"body":"Łuna 🐈\\u0000\\n"}';
      expect(await ask(key, answering(answer), { fingerprint: 'first' })).toEqual({
        answer,
        fingerprint: 'first',
        isReplay: false,
      });
      expect(await ask(key, never, { fingerprint: 'second' })).toEqual({
        answer,
        fingerprint: 'first',
        isReplay: true,
      });
    });

    it('distinguishes accounts and keys', async () => {
      const key = newKey();
      await ask(key, answering('one'));
      expect(await ask(key, answering('two'), { by: other })).toMatchObject({ answer: 'two', isReplay: false });
      expect(await ask(`${key} `, answering('three'))).toMatchObject({ answer: 'three', isReplay: false });
      expect(await ask(key, never)).toMatchObject({ answer: 'one' });
    });

    it('stores the work’s changes together with its answer', async () => {
      const key = newKey();
      const { answer } = await ask(key, async (transaction) =>
        String((await ports.animals.add(newAnimal({ name: 'Luna', categoryId: 1n }), transaction)).id),
      );
      expect(await ports.animals.findById(BigInt(answer) as AnimalId)).toMatchObject({ name: 'Luna' });
    });

    it('undoes all changes of failed work, and leaves the key free', async () => {
      const key = newKey();
      const { id: animalId } = await ports.animals.add(newAnimal({ name: 'Milo', categoryId: 1n }));
      const messageId = unique.name() as MessageId;
      const old = await addKey(ports, unique.key(account));
      let added: AnimalId | undefined;
      const failing = ask(key, async (transaction) => {
        added = (await ports.animals.add(newAnimal({ name: 'Nala', categoryId: 1n }), transaction)).id;
        const placement = { accountId: account.id, animalId, limit: 1 };
        const place = () =>
          ports.orders.place(placement, (state) => decidePlacement(state, placement, NOON), transaction);
        expect(await place()).toMatchObject({ status: 'placed' });
        // A decision that refuses leaves the transaction as it is.
        await expect(place()).rejects.toMatchObject({ code: 'too_many_orders' });
        const message = { id: messageId, accountId: account.id, text: 'Hello', createdAt: NOON };
        await ports.messages.add(message, transaction);
        await addKey(ports, unique.key(account), undefined, transaction);
        await replaceKey(ports, old.id, unique.key(account), undefined, transaction);
        throw new Error('the work failed');
      });
      await expect(failing).rejects.toThrow('the work failed');
      expect(added && (await ports.animals.findById(added))).toBeUndefined();
      expect(await ports.animals.findById(animalId)).toMatchObject({ status: 'available' });
      expect(await ports.orders.list({ accountId: account.id, limit: 10 })).toEqual([]);
      expect(await ports.messages.findById(account.id, messageId)).toBeUndefined();
      expect(await ports.apiKeys.list(account.id)).toEqual([{ account, key: old }]);
      expect(await ask(key, answering('afterwards'))).toMatchObject({ answer: 'afterwards', isReplay: false });
    });

    it('runs the work of one of many concurrent callers; the others wait for its answer', async () => {
      const key = newKey();
      let runs = 0;
      const answers = await atOnce(8, (index) =>
        ask(key, async () => {
          runs += 1;
          // Long enough for the others to ask.
          await ports.animals.add(newAnimal({ name: 'Luna', categoryId: 1n }));
          return `answer of ${index}`;
        }),
      );
      expect(runs).toBe(1);
      expect(new Set(answers.map(({ answer }) => answer)).size).toBe(1);
      expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    });

    it('runs the work of the next caller if the first one fails', async () => {
      const key = newKey();
      let runs = 0;
      const asking = Array.from({ length: 5 }, () =>
        ask(key, async () => {
          runs += 1;
          if (runs === 1) throw new Error('the first one failed');
          return 'done';
        }),
      );
      const outcomes = await Promise.allSettled(asking);
      expect(runs).toBe(2);
      expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
      expect(await ask(key, never)).toMatchObject({ answer: 'done' });
    });

    it('runs a request again once its answer has expired, whether or not it was deleted', async () => {
      const key = newKey();
      await ask(key, answering('old'));
      expect(await ask(key, never, { now: later(NOON, DAY - 1) })).toMatchObject({ answer: 'old' });
      const now = later(NOON, DAY);
      expect(await ask(key, answering('new'), { now, fingerprint: 'anew' })).toEqual({
        answer: 'new',
        fingerprint: 'anew',
        isReplay: false,
      });
      expect(await ask(key, never, { now })).toMatchObject({ answer: 'new', fingerprint: 'anew', isReplay: true });
    });

    it('deletes the answers up to an instant, and no others', async () => {
      await records.purge(later(NOON, 100 * DAY));
      const times = [0, 1, 2].map((milliseconds) => later(NOON, milliseconds));
      const asked = times.map((now) => ({ key: newKey(), now }));
      for (const { key, now } of asked) await ask(key, answering('once'), { now });
      expect(await records.purge(later(NOON, 1))).toBe(2);
      expect(await records.purge(later(NOON, 1))).toBe(0);
      const replays = [];
      for (const { key, now } of asked) replays.push((await ask(key, answering('again'), { now })).isReplay);
      expect(replays).toEqual([false, false, true]);
    });
  });
}
