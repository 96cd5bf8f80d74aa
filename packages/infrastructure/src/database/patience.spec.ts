import { expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { PATIENCE, whenLate } from './patience.js';

it('gives up whatever is late, once, and nothing that has ended, in whichever order they come and go', () => {
  jest.useFakeTimers();
  fc.assert(
    fc.property(
      fc.array(fc.record({ after: fc.nat(100), takes: fc.nat(2 * PATIENCE) }), { maxLength: 30 }),
      (works) => {
        const begun = performance.now();
        const given: number[] = [];
        works.forEach(({ after, takes }, index) => {
          setTimeout(() => {
            const end = whenLate(performance.now(), () => given.push(index));
            setTimeout(end, takes);
          }, after);
        });
        jest.advanceTimersByTime(5 * PATIENCE);
        expect(performance.now() - begun).toBe(5 * PATIENCE);
        const isCalled = (index: number) => given.filter((each) => each === index).length;
        works.forEach(({ takes }, index) => {
          // By up to 50 ms later.
          if (takes < PATIENCE) expect(isCalled(index)).toBe(0);
          if (takes > PATIENCE + 50) expect(isCalled(index)).toBe(1);
          expect(isCalled(index)).toBeLessThanOrEqual(1);
        });
        // Nothing is looked after anymore.
        expect(jest.getTimerCount()).toBe(0);
      },
    ),
    { numRuns: 200 },
  );
  jest.useRealTimers();
});
