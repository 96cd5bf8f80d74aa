import * as globals from '@jest/globals';
import type { TestFramework } from '@adoption-store/domain/testing';
import { until } from '@adoption-store/test-support';

/** Jest, in the form that the suites of the ports need. */
export const framework: TestFramework = { ...globals, until, random: Math.random };
