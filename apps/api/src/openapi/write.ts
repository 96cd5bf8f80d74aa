import { writeFileSync } from 'node:fs';
import 'reflect-metadata';
import { descriptionText } from './description.js';

// From dist/openapi, for `npm run openapi`.
writeFileSync(new URL('../../openapi.json', import.meta.url), descriptionText());
