import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type DependencyChange, DependencyMonitor } from '../src/kernel/dependency-monitor.js';
describe('the monitor of dependencies', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  function monitored() {
    const changes: DependencyChange[] = [];
    const monitor = new DependencyMonitor((change) => changes.push(change));
    return { monitor, changes };
  }

  const REDIS = { dependency: 'redis', name: 'Redis' } as const;
  const LOST = { ...REDIS, state: 'lost', reason: 'connection refused' } as const;
  const BACK = { ...REDIS, state: 'back' } as const;

  it('reports a loss once, with its reason, and the return once, of each dependency apart', () => {
    const { monitor, changes } = monitored();
    monitor.record('redis');
    monitor.record('redis', new Error('connection refused'));
    monitor.record('postgresql');
    expect([...monitor.read()]).toEqual(Object.entries({ redis: false, postgresql: true }));
    monitor.record('redis', new Error('still refused'));
    monitor.record('redis');
    monitor.record('redis');
    expect(changes).toEqual([LOST, BACK]);
  });

  it('reports a loss once more after five seconds, with the latest reason, and one that was over before only once', () => {
    const { monitor, changes } = monitored();
    for (const lasted of [4_999, 5_000]) {
      monitor.record('redis', new Error('connection refused'));
      jest.advanceTimersByTime(lasted - 1);
      monitor.record('redis', new Error('still refused'));
      jest.advanceTimersByTime(1);
      monitor.record('redis');
    }
    jest.advanceTimersByTime(10_000);
    expect(changes).toEqual([LOST, BACK, LOST, { ...REDIS, state: 'still lost', reason: 'still refused' }, BACK]);
  });

  it.each([
    ['a system', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })],
    ['PostgreSQL or a pooler', Object.assign(new Error('refused'), { code: '08P01' })],
    ['Redis', Object.assign(new Error('refused'), { name: 'ReplyError' })],
    ['a mail server', new Error('refused', { cause: Object.assign(new Error(), { code: 'EAUTH' }) })],
  ])('keeps the reason that %s gave, until it gives another or answers, whatever we or a driver say', (_who, given) => {
    const { monitor, changes } = monitored();
    const stillLost = () => {
      jest.advanceTimersByTime(5_000);
      return changes.at(-1)?.reason;
    };
    monitor.record('redis', new Error('no answer'));
    monitor.record('redis', given);
    monitor.record('redis', new Error('not connected'));
    expect(stillLost()).toBe('refused');
    monitor.record('redis');
    monitor.record('redis', given);
    monitor.record('redis', Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    expect(stillLost()).toBe('reset');
    monitor.record('redis');
    monitor.record('redis', new Error('not connected'));
    expect(stillLost()).toBe('not connected');
  });

  it('asks again after the interval, whether there was an answer or not', async () => {
    const { monitor, changes } = monitored();
    const answers = [true, false, true];
    let asked = 0;
    const ask = async () => {
      asked += 1;
      if (answers.shift() === false) throw new Error('connection refused');
    };
    monitor.poll('redis', ask, { interval: 1_000, timeout: 100 });
    await jest.advanceTimersByTimeAsync(999);
    expect(asked).toBe(1);
    await jest.advanceTimersByTimeAsync(1_001);
    expect([asked, changes]).toEqual([3, [LOST, BACK]]);
  });

  it('takes silence for a loss once the timeout is over', async () => {
    const { monitor, changes } = monitored();
    monitor.poll('smtp', () => new Promise(() => undefined), { interval: 1_000, timeout: 500 });
    await jest.advanceTimersByTimeAsync(499);
    expect(changes).toEqual([]);
    await jest.advanceTimersByTimeAsync(2);
    expect(changes.map(({ reason }) => reason)).toEqual(['no answer within 500 ms']);
  });

  it('reports nothing and asks nothing once it is closed', async () => {
    const { monitor, changes } = monitored();
    let asked = 0;
    monitor.poll('redis', () => Promise.reject(new Error(String((asked += 1)))), { interval: 10, timeout: 5 });
    monitor.close();
    await jest.advanceTimersByTimeAsync(100);
    monitor.record('redis', new Error('connection refused'));
    expect([asked, changes, jest.getTimerCount()]).toEqual([1, [], 0]);
  });
});
