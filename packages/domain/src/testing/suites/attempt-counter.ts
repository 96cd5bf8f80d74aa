import { type AttemptCounter, type AttemptState, decideAttempt } from '../../accounts/attempt-counter.js';
import { DAY, later, MINUTE } from '../../kernel/clock.js';
import { atOnce, NOON, openBefore, stateOf, expectDecidedOnce, Unique } from './fixtures.js';
import type { Open, TestFramework } from './framework.js';

const LIMIT = { most: 10, within: 15 * MINUTE };

/** The guarantees of every `AttemptCounter`. */
export function attemptCounterSuite(framework: TestFramework, name: string, open: Open<'attempts'>): void {
  const { describe, it, expect } = framework;
  describe(`an attempt counter (${name})`, () => {
    const unique = new Unique();
    let attempts: AttemptCounter;
    openBefore(framework, open, ({ ports }) => {
      attempts = ports.attempts;
    });

    const count = async (subjectHash: string, now = NOON) =>
      (await attempts.count(subjectHash, (state) => decideAttempt(state, { ...LIMIT, now }))).until;
    const next = (subjectHash: string) => stateOf<AttemptState>((decide) => attempts.count(subjectHash, decide));
    const timesOf = async (subjectHash: string) => (await next(subjectHash)).times;

    it('decides on what was decided before, by a clock that goes on', async () => {
      const subject = unique.hash();
      const begin = await next(subject);
      expect(begin.times).toEqual([]);
      const times = [3, 1, 2].map((minute) => later(NOON, minute * MINUTE));
      for (const decision of [{ until: undefined, times, expiresAt: later(NOON, DAY) }, { until: NOON }]) {
        expect(await attempts.count(subject, () => decision)).toEqual(decision);
        const { times: counted, sharedNow } = await next(subject);
        expect(counted).toEqual(times);
        expect(sharedNow).toBeGreaterThanOrEqual(begin.sharedNow);
      }
    });

    it('makes a decision once', async () => {
      const decide = (state: AttemptState) => decideAttempt(state, { ...LIMIT, now: NOON });
      await expectDecidedOnce(framework, { count: (counted) => attempts.count(unique.hash(), counted(decide)) });
    });

    it('admits exactly the limit under a race', async () => {
      const subject = unique.hash();
      const answers = await atOnce(40, () => count(subject));
      expect(answers.filter((answer) => answer === undefined)).toHaveLength(10);
      expect(new Set(answers)).toEqual(new Set([undefined, later(NOON, LIMIT.within)]));
    });

    it('admits no more than the limit and loses none, while attempts are refunded and cleared', async () => {
      const subject = unique.hash();
      await atOnce<unknown>(40, (index) => {
        if (index % 10 === 5) return attempts.refund(subject);
        return index % 20 === 9 ? attempts.clear(subject) : count(subject);
      });
      await atOnce(10, () => count(subject));
      expect(await timesOf(subject)).toHaveLength(10);
    });

    it('takes back only the last attempt of the subject, and nothing if there is none', async () => {
      const [subject, other] = [unique.hash(), unique.hash()];
      await count(other);
      await attempts.refund(subject);
      for (const minute of [1, 0]) await count(subject, later(NOON, minute * MINUTE));
      for (const left of [[later(NOON, MINUTE)], [], []]) {
        await attempts.refund(subject);
        expect([await timesOf(subject), await timesOf(other)]).toEqual([left, [NOON]]);
      }
    });

    it('clears all attempts of the subject, and no other’s', async () => {
      const [subject, other] = [unique.hash(), unique.hash()];
      for (const each of [subject, subject, other]) await count(each);
      await attempts.clear(subject);
      expect([await timesOf(subject), await timesOf(other)]).toEqual([[], [NOON]]);
    });

    it('purges the subjects whose last attempt no longer counts, and no others', async () => {
      await attempts.purge(later(NOON, DAY));
      const times = [later(NOON, DAY), later(NOON, DAY + MINUTE)];
      const [subject, other] = [unique.hash(), unique.hash()];
      for (const time of times) for (const each of [subject, other]) await count(each, time);
      const end = later(NOON, DAY + MINUTE + LIMIT.within);
      expect([await attempts.purge(later(end, -1)), await timesOf(subject)]).toEqual([0, times]);
      expect([await attempts.purge(end), await timesOf(subject)]).toEqual([2, []]);
    });
  });
}
