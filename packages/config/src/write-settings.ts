import { readFileSync, writeFileSync } from 'node:fs';
import { envExample, settingsPage } from './settings-pages.js';

// From dist, for `npm run settings`.
const page = new URL('../../../docker/settings.md', import.meta.url);
writeFileSync(page, settingsPage(readFileSync(page, 'utf8')));
writeFileSync(new URL('../../../.env.example', import.meta.url), envExample());
