/**
 * `node licences.js [LOCKFILE]` prints every package of the lockfile with its licence. It fails where one has none, or
 * one that nobody has agreed to: those may be used, changed and shipped without opening what they are shipped with.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const AGREED = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC-BY-4.0', // caniuse-lite: data that Jest's compiler reads, and no service does.
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0', // argparse: what lints the description reads YAML with it, and no service does.
  'Python-2.0', // argparse 2, whose licence this is: what makes the client's types reads YAML with it.
  'Zlib',
];

const file = process.argv[2] ?? join(import.meta.dirname, '../../package-lock.json');
const packages = Object.entries(JSON.parse(readFileSync(file, 'utf8')).packages)
  .filter(([path, { link }]) => path.includes('node_modules/') && !link)
  .map(([path, { version, license = 'none' }]) => ({ name: path.replace(/^.*node_modules\//, ''), version, license }))
  .sort((one, other) => one.name.localeCompare(other.name));

for (const { name, version, license } of packages) console.log(`${license}\t${name} ${version}`);
const refused = packages.filter(({ license }) => !isAgreed(license));
for (const { name, version, license } of refused)
  console.error(`${name} ${version} has the licence ${license}, which nobody has agreed to`);
process.exitCode = refused.length > 0 ? 1 : 0;

/** SPDX: of alternatives one must be agreed to, and of what holds together each. */
function isAgreed(expression) {
  const alternatives = expression.replace(/[()]/g, '').split(' OR ');
  return alternatives.some((each) => each.split(' AND ').every((name) => AGREED.includes(name)));
}
