import type { TestFramework } from '@adoption-store/domain/testing';
import { framework } from './framework.js';

type Step = () => Promise<void> | void;

/** Runs a suite whose tests share one `describe`, and gives the titles of those that fail. */
export async function brokenGuarantees(defineSuite: (framework: TestFramework) => void): Promise<readonly string[]> {
  const tests: { readonly guarantee: string; readonly test: Step }[] = [];
  const hooks = { beforeAll: [] as Step[], beforeEach: [] as Step[], afterEach: [] as Step[], afterAll: [] as Step[] };
  defineSuite({
    ...framework,
    describe: (_, suite) => {
      suite();
    },
    it: (guarantee, test) => void tests.push({ guarantee, test }),
    beforeAll: (hook) => void hooks.beforeAll.push(hook),
    beforeEach: (hook) => void hooks.beforeEach.push(hook),
    afterEach: (hook) => void hooks.afterEach.push(hook),
    afterAll: (hook) => void hooks.afterAll.push(hook),
  });
  const broken: string[] = [];
  for (const step of hooks.beforeAll) await step();
  for (const { guarantee, test } of tests) {
    try {
      for (const step of [...hooks.beforeEach, test, ...hooks.afterEach]) await step();
    } catch {
      broken.push(guarantee);
    }
  }
  for (const step of hooks.afterAll) await step();
  return broken;
}
