import { readSettings, runService, workerSettings } from '@adoption-store/config';
import { startWorker } from './worker.js';

await runService((environment) => readSettings(workerSettings, environment), startWorker);
