import { setTimeout as delay } from 'node:timers/promises';
import * as globals from '@jest/globals';
import type { TestFramework } from '@adoption-store/domain/testing';

/** Jest, as the suites of the ports take it. */
export const framework: TestFramework = {
  ...globals,
  random: Math.random,
  // Jest ends a test that waits in vain.
  until: async (isTrue) => {
    while (!(await isTrue())) await delay(10);
  },
};
