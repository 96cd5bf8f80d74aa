import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type DependencyChange, DependencyMonitor } from './dependency-monitor.js';

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

const LOST = { dependency: 'redis', name: 'Redis', isUp: false, reason: 'connection refused' } as const;
const BACK = { dependency: 'redis', name: 'Redis', isUp: true } as const;

describe('the monitor of dependencies', () => {
  it('reports a loss once, with its reason, and the return once', () => {
    const { monitor, changes } = monitored();
    monitor.record('redis');
    monitor.record('redis', new Error('connection refused'));
    monitor.record('redis', new Error('still refused'));
    monitor.record('redis');
    monitor.record('redis');
    expect(changes).toEqual([LOST, BACK]);
  });

  it('reports a dependency that has never answered', () => {
    const { monitor, changes } = monitored();
    monitor.record('redis', new Error('connection refused'));
    expect(changes).toEqual([LOST]);
  });

  it('keeps the dependencies apart', () => {
    const { monitor } = monitored();
    monitor.record('redis', new Error('connection refused'));
    monitor.record('postgresql');
    expect([...monitor.read()]).toEqual([
      ['redis', false],
      ['postgresql', true],
    ]);
  });

  it('gives the reason of each address that could not be reached', () => {
    const { monitor, changes } = monitored();
    monitor.record('postgresql', new AggregateError([new Error('refused by ::1'), new Error('refused by 127.0.0.1')]));
    expect(changes[0]?.reason).toBe('refused by ::1; refused by 127.0.0.1');
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
