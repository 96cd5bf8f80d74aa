import { apiSettings, readSettings, runService } from '@adoption-store/config';
import { serveApi } from './serve-api.js';

await runService((environment) => readSettings(apiSettings, environment), serveApi);
