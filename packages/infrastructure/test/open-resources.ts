import { until } from '@adoption-store/test-support';
import { createHook } from 'node:async_hooks';

/** What a process keeps for all work together, and what `until` needs itself. */
const FEW = 10;

/** Runs the work many times, one after the other, and waits until only a few of its timers and sockets are left. */
export async function leavesNothing(work: () => Promise<unknown>, times = 50): Promise<void> {
  const left = new Map<number, string>();
  const hook = createHook({
    init: (id, type) => left.set(id, type),
    destroy: (id) => left.delete(id),
  }).enable();
  const isLeft = (type: string) => ['Timeout', 'TCPWRAP'].includes(type);
  try {
    for (let count = 0; count < times; count += 1) await work();
    await until(() => [...left.values()].filter(isLeft).length < FEW, { what: 'the end of all timers and sockets' });
  } finally {
    hook.disable();
  }
}
