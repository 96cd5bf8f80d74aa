// bill-of-materials.js FOLDER: fails unless sbom.cdx.json in the folder, which production-files.sh has written, lists each
// package that is there, and no other.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const OURS = /^(?:apps|packages)\/[^/]+\/package\.json$/;
const INSTALLED = /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/;

const [folder] = process.argv.slice(2);
const read = (path) => JSON.parse(readFileSync(join(folder, path), 'utf8'));

const present = new Set(
  readdirSync(folder, { recursive: true })
    .filter((path) => OURS.test(path) || INSTALLED.test(path))
    .map(read)
    .map(({ name, version }) => `${name}@${version}`),
);
const listed = new Set(
  read('sbom.cdx.json').components.map(({ purl }) => decodeURIComponent(purl).replace(/^pkg:npm\//, '')),
);
const faults = [
  ...[...present].filter((name) => !listed.has(name)).map((name) => `${name} is not listed`),
  ...[...listed].filter((name) => !present.has(name)).map((name) => `${name} is listed, but not there`),
];
if (listed.size === 0) faults.push('nothing is listed');
for (const fault of faults) console.error(fault);
console.log(`${listed.size} packages are listed`);
process.exitCode = faults.length > 0 ? 1 : 0;
