import { writeFileSync } from 'node:fs';
import 'reflect-metadata';
import { describingFiles } from './description.js';

// From dist/openapi, for `npm run openapi`.
for (const [name, text] of Object.entries(describingFiles()))
  writeFileSync(new URL(`../../${name}`, import.meta.url), text);
