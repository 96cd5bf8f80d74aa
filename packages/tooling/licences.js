/**
 * `node licences.js [LOCKFILE]` prints every package of the lockfile with its licence. It fails if a licence is missing
 * or isn't on the list. The list has licences that allow use, change and distribution without opening the source of the
 * rest.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const AGREED = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC-BY-4.0', // caniuse-lite: data that Jest's compiler reads. No service uses it.
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0', // axe-core: it checks pages in tests, and isn't shipped.
  'PSF-2.0', // argparse: the description's linter parses YAML with it. No service uses it.
  'Python-2.0', // argparse 2, for the same reason.
  'Zlib',
];

// These name their licence in a format older than SPDX, which the lockfile leaves out.
const SAID_OTHERWISE = { busboy: 'MIT', streamsearch: 'MIT' };

const file = process.argv[2] ?? join(import.meta.dirname, '../../package-lock.json');
const packages = Object.entries(JSON.parse(readFileSync(file, 'utf8')).packages)
  .filter(([path, { link }]) => path.includes('node_modules/') && !link)
  .map(([path, { version, license }]) => ({ name: path.replace(/^.*node_modules\//, ''), version, license }))
  .map(({ name, version, license = SAID_OTHERWISE[name] ?? 'none' }) => ({ name, version, license }))
  .sort((one, other) => one.name.localeCompare(other.name));

for (const { name, version, license } of packages) console.log(`${license}\t${name} ${version}`);
const refused = packages.filter(({ license }) => !isAgreed(license));
for (const { name, version, license } of refused)
  console.error(`${name} ${version} has the licence ${license}, which is not on the list`);
process.exitCode = refused.length > 0 ? 1 : 0;

/** In an SPDX expression, one alternative of an OR and every part of an AND must be on the list. */
function isAgreed(expression) {
  const alternatives = expression.replace(/[()]/g, '').split(' OR ');
  return alternatives.some((each) => each.split(' AND ').every((name) => AGREED.includes(name)));
}
