import { describe, expect, it } from '@jest/globals';
import { createApplication } from '../application.js';
import { MINUTE, SECOND } from '../kernel/clock.js';
import { inMemoryPorts } from '../testing/index.js';

const LIMIT = { most: 2, within: MINUTE };

function setUp() {
  const ports = inMemoryPorts();
  const { limitAttempts, purgeExpired } = createApplication(ports);
  const attempt = (subject = 'dev@example.com') => limitAttempts.execute(subject, LIMIT);
  return { limitAttempts, purgeExpired, attempt, clock: ports.clock };
}

describe('attempts', () => {
  it('are as many as the limit says within any span of its length, and then say how long to wait', async () => {
    const { attempt, clock } = setUp();
    expect(await attempt()).toBeUndefined();
    clock.advance(20 * SECOND);
    expect(await attempt()).toBeUndefined();
    expect(await attempt()).toBe(40 * SECOND);
    clock.advance(40 * SECOND - 1);
    expect(await attempt()).toBe(1);
    clock.advance(1);
    expect(await attempt()).toBeUndefined();
    expect(await attempt()).toBe(20 * SECOND);
  });

  it('of one subject are not counted against another', async () => {
    const { attempt } = setUp();
    for (let count = 0; count < 3; count += 1) await attempt();
    expect(await attempt('other@example.com')).toBeUndefined();
  });

  it('that were right are taken back one by one, or all at once', async () => {
    const { limitAttempts, attempt } = setUp();
    const subjects = ['dev@example.com', '192.0.2.1'];
    for (const subject of [...subjects, ...subjects]) await attempt(subject);
    await limitAttempts.takeBack('dev@example.com');
    expect(await attempt()).toBeUndefined();
    expect(await attempt()).toBe(MINUTE);
    await limitAttempts.clear(subjects);
    for (const subject of [...subjects, ...subjects]) expect(await attempt(subject)).toBeUndefined();
  });

  it('that no longer count are cleared away', async () => {
    const { attempt, purgeExpired, clock } = setUp();
    await attempt();
    expect(await purgeExpired.execute('attempts')).toBe(0);
    clock.advance(MINUTE);
    expect(await purgeExpired.execute('attempts')).toBe(1);
  });
});
