import { expect, it } from '@jest/globals';
import { until } from './until.js';

it('a failed wait names what it waited for: the given words, or the condition’s source', async () => {
  const never = () => performance.now() < 0;
  await expect(until(never, { what: 'the end of time', within: 30 })).rejects.toThrow(
    'waited 30 ms in vain for: the end of time',
  );
  await expect(until(never, { within: 30 })).rejects.toThrow(/^waited 30 ms in vain for: .*performance\.now\(\) < 0/s);
});

it('a wait is over as soon as its condition is true', async () => {
  let asked = 0;
  await until(() => (asked += 1) === 3);
  expect(asked).toBe(3);
});
