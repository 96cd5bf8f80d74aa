import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

// Only the rules and elements of findings. Reporting passed checks would be most of the work.
const FIND = `axe
  .run({ runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'] })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target).join(', ')))`;

/** Loads axe-core into the page. The page's own policy doesn't prevent that. */
export async function bringAxe(page: Page): Promise<void> {
  await page.evaluate(AXE);
}

/** axe-core's findings in the page's current state. */
export async function findingsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(FIND);
}
