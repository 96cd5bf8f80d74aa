import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AttemptCounter, DAY, instant, later, MINUTE } from '@adoption-store/domain';
import { type Adapters, everyAdapter } from './adapters.js';

const NOW = instant(Date.UTC(2026, 0, 1, 12, 0, 0, 123));
const LIMIT = { most: 10, within: 15 * MINUTE };

describe.each(everyAdapter)('an attempt counter (%s)', (_name, open) => {
  let adapters: Adapters;
  let attempts: AttemptCounter;
  beforeAll(async () => {
    adapters = await open();
    attempts = adapters.ports.attempts;
  });
  afterAll(() => adapters.close());

  const newSubject = () => createHash('sha256').update(randomUUID()).digest('hex');
  const count = (subjectHash: string, now = NOW) => attempts.count({ subjectHash, ...LIMIT, now });

  it('admits exactly the limit under a race', async () => {
    const subject = newSubject();
    const answers = await Promise.all(Array.from({ length: 40 }, () => count(subject)));
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(10);
    expect(new Set(answers)).toEqual(new Set([undefined, later(NOW, LIMIT.within)]));
  });

  it('admits no more than the limit within any span of that length, and as soon as there is room', async () => {
    const subject = newSubject();
    for (let minute = 0; minute < 10; minute += 1)
      expect(await count(subject, later(NOW, minute * MINUTE))).toBeUndefined();
    const free = later(NOW, 15 * MINUTE);
    expect(await count(subject, later(NOW, 14 * MINUTE))).toBe(free);
    expect(await count(subject, later(free, -1))).toBe(free);
    expect(await count(subject, free)).toBeUndefined();
    expect(await count(subject, free)).toBe(later(free, MINUTE));
  });

  it('takes back the latest attempt alone', async () => {
    const subject = newSubject();
    for (let attempt = 0; attempt < 10; attempt += 1) await count(subject);
    await attempts.takeBack(subject);
    expect(await count(subject)).toBeUndefined();
    expect(await count(subject)).toBe(later(NOW, LIMIT.within));
  });

  it('takes nothing back where there is nothing', async () => {
    const subject = newSubject();
    await attempts.takeBack(subject);
    await count(subject);
    for (let time = 0; time < 3; time += 1) await attempts.takeBack(subject);
    for (let attempt = 0; attempt < 10; attempt += 1) expect(await count(subject)).toBeUndefined();
    expect(await count(subject)).toBeDefined();
  });

  it('forgets what it is told to, and counts each subject by itself', async () => {
    const [subject, other] = [newSubject(), newSubject()];
    for (let attempt = 0; attempt < 10; attempt += 1) await Promise.all([count(subject), count(other)]);
    await attempts.forget(subject);
    expect(await count(subject)).toBeUndefined();
    expect(await count(other)).toBeDefined();
  });

  it('purges what no longer counts, and nothing else', async () => {
    const [old, young] = [newSubject(), newSubject()];
    await count(old, later(NOW, DAY));
    for (let attempt = 0; attempt < 10; attempt += 1) await count(young, later(NOW, DAY + MINUTE));
    expect(await attempts.purge(later(NOW, DAY + LIMIT.within))).toBeGreaterThanOrEqual(1);
    expect(await count(young, later(NOW, DAY + 2 * MINUTE))).toBeDefined();
    expect(await attempts.purge(later(NOW, DAY + LIMIT.within))).toBe(0);
    expect(await attempts.purge(later(NOW, 2 * DAY))).toBe(1);
  });
});
