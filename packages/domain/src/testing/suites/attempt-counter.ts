import type { AttemptCounter } from '../../accounts/attempt-counter.js';
import { DAY, HOUR, type Instant, instant, later, MINUTE } from '../../kernel/clock.js';
import { atOnce, NOON, Unique } from './fixtures.js';
import type { Open, Opened, TestFramework } from './framework.js';

const LIMIT = { most: 10, within: 15 * MINUTE };

/** The guarantees of every `AttemptCounter`. */
export function attemptCounterSuite(framework: TestFramework, name: string, open: Open<'attempts'>): void {
  const { describe, it, beforeAll, afterAll, expect } = framework;
  describe(`an attempt counter (${name})`, () => {
    const unique = new Unique();
    let opened: Opened<'attempts'>;
    let attempts: AttemptCounter;
    beforeAll(async () => {
      opened = await open();
      attempts = opened.ports.attempts;
    });
    afterAll(() => opened.close());

    const newSubject = () => unique.hash();
    const count = (subjectHash: string, now = NOON) => attempts.count({ subjectHash, ...LIMIT, now });

    it('admits exactly the limit under a race', async () => {
      const subject = newSubject();
      const answers = await atOnce(40, () => count(subject));
      expect(answers.filter((answer) => answer === undefined)).toHaveLength(10);
      expect(new Set(answers)).toEqual(new Set([undefined, later(NOON, LIMIT.within)]));
    });

    it('admits no more than the limit within any span of that length, and as soon as there is room', async () => {
      const subject = newSubject();
      for (let minute = 0; minute < 10; minute += 1)
        expect(await count(subject, later(NOON, minute * MINUTE))).toBeUndefined();
      const free = later(NOON, 15 * MINUTE);
      expect(await count(subject, later(NOON, 14 * MINUTE))).toBe(free);
      expect(await count(subject, later(free, -1))).toBe(free);
      expect(await count(subject, free)).toBeUndefined();
      expect(await count(subject, free)).toBe(later(free, MINUTE));
    });

    it('ignores the attempts of a clock that was an hour ahead, and counts those of one that is a minute ahead', async () => {
      const subject = newSubject();
      const now = instant(Date.UTC(2200, 0));
      const countTen = async (at: Instant) => {
        for (let attempt = 0; attempt < 10; attempt += 1) expect(await count(subject, at)).toBeUndefined();
      };
      await countTen(later(now, HOUR));
      await countTen(later(now, MINUTE));
      expect(await count(subject, now)).toBe(later(now, MINUTE + LIMIT.within));
    });

    it('takes back the latest attempt alone', async () => {
      const subject = newSubject();
      for (let attempt = 0; attempt < 10; attempt += 1) await count(subject);
      await attempts.takeBack(subject);
      expect(await count(subject)).toBeUndefined();
      expect(await count(subject)).toBe(later(NOON, LIMIT.within));
    });

    it('takes nothing back where there is nothing', async () => {
      const subject = newSubject();
      await attempts.takeBack(subject);
      await count(subject);
      for (let time = 0; time < 3; time += 1) await attempts.takeBack(subject);
      for (let attempt = 0; attempt < 10; attempt += 1) expect(await count(subject)).toBeUndefined();
      expect(await count(subject)).toBeDefined();
    });

    it('clears what it is told to, and counts each subject by itself', async () => {
      const [subject, other] = [newSubject(), newSubject()];
      for (let attempt = 0; attempt < 10; attempt += 1) await Promise.all([count(subject), count(other)]);
      await attempts.clear(subject);
      expect(await count(subject)).toBeUndefined();
      expect(await count(other)).toBeDefined();
    });

    it('purges what no longer counts, and nothing else', async () => {
      const [old, young] = [newSubject(), newSubject()];
      await count(old, later(NOON, DAY));
      for (let attempt = 0; attempt < 10; attempt += 1) await count(young, later(NOON, DAY + MINUTE));
      expect(await attempts.purge(later(NOON, DAY + LIMIT.within))).toBeGreaterThanOrEqual(1);
      expect(await count(young, later(NOON, DAY + 2 * MINUTE))).toBeDefined();
      expect(await attempts.purge(later(NOON, DAY + LIMIT.within))).toBe(0);
      expect(await attempts.purge(later(NOON, 2 * DAY))).toBe(1);
    });
  });
}
