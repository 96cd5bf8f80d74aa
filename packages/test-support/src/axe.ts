import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Those that depend on the colour scheme. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

// Reports only violations, because reports of passed checks take most of the time. Doesn't preload, which would apply
// inline styles that the pages' policies forbid. Waits for animations, because sizes during one cause random findings.
const find = (rules: readonly string[]) => `Promise.allSettled(document.getAnimations().map(({ finished }) => finished))
  .then(() => axe.run({ runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'], preload: false }))
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target).join(', ')))`;

/** A page of Playwright. */
interface Page {
  evaluate<Result>(script: string): Promise<Result>;
}

/** Loads axe-core into the page. The page's Content-Security-Policy doesn't apply to it. */
export async function bringAxe(page: Page): Promise<void> {
  await page.evaluate(AXE);
}

/** axe-core's findings in the page's current state. In another colour scheme only those about colours can be others. */
export async function findingsOf(page: Page, rules: 'all' | 'colours' = 'all'): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(find(rules === 'all' ? RULES : COLOURS));
}
