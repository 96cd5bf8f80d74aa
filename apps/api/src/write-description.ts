import { writeFileSync } from 'node:fs';
import 'reflect-metadata';
import { descriptionText } from './openapi/description.js';

// From dist, for `npm run openapi`.
writeFileSync(new URL('../openapi.json', import.meta.url), descriptionText());
