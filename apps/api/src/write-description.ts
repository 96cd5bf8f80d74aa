import { readFileSync, writeFileSync } from 'node:fs';
import 'reflect-metadata';
import { OPERATIONS } from './api.module.js';
import { descriptionText } from './openapi/description.js';
import { readmeRows } from './openapi/operations.js';

// From dist, for `npm run openapi`.
writeFileSync(new URL('../openapi.json', import.meta.url), descriptionText(OPERATIONS));
const readme = new URL('../../../README.md', import.meta.url);
const rows = readmeRows(OPERATIONS).map((row) => `${row}\n`);
writeFileSync(
  readme,
  readFileSync(readme, 'utf8').replace(/(?:^\| `[A-Z]+ \/v1\/.*\n)+/m, () => rows.join('')),
);
