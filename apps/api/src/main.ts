import { createRequire } from 'node:module';
import { apiSettings, readSettings, runService } from '@adoption-store/config';
import type * as ServeApi from './serve-api.js';

// Not by `import`, which reads each of 1,500 files in turns of the event loop of its own: a fifth of the time to start.
const { serveApi } = createRequire(import.meta.url)('./serve-api.js') as typeof ServeApi;

await runService((environment) => readSettings(apiSettings, environment), serveApi);
