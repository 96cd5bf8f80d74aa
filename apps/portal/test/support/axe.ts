import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

// Of each finding the rule, and the elements it is about. What passes needn't be told, which is most of the work.
const FIND = `axe
  .run({ runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'] })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target).join(', ')))`;

/** Brings axe-core into the page; no policy of the page's own is in the way. */
export async function bringAxe(page: Page): Promise<void> {
  await page.evaluate(AXE);
}

/** The faults that axe-core finds in the page as it stands. */
export async function findingsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(FIND);
}
