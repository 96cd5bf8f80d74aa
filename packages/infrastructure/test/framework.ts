import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestFramework } from '@adoption-store/domain/testing';
import { until } from '@adoption-store/test-support';

/** Jest, in the form that the suites of the ports need. */
export const framework: TestFramework = {
  describe,
  it,
  beforeAll,
  beforeEach,
  afterEach,
  afterAll,
  expect,
  until,
  random: Math.random,
};
