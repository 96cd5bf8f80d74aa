import { apiSettings, readSettings } from '@adoption-store/config';
import { runApp } from '@adoption-store/store';
import { serveApi } from './serve-api.js';

await runApp({ name: 'api', read: (environment) => readSettings(apiSettings, environment), serve: serveApi });
