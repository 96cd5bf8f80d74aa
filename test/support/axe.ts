import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';

const SCRIPT = createRequire(__filename).resolve('axe-core/axe.min.js');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

// Of each finding the rule, and the elements it is about.
const FIND = `axe
  .run({ runOnly: ${JSON.stringify(RULES)} })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target).join(', ')))`;

/** Brings axe-core into each page of the context from now on; no policy of the page's own is in the way. */
export async function bringAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript({ path: SCRIPT });
}

/** What axe-core holds against the page as it stands. */
export async function findingsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(FIND);
}
