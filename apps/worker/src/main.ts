import { readSettings, workerSettings } from '@adoption-store/config';
import { runApp } from '@adoption-store/store';
import { deliveryOf, startWorker } from './worker.js';

const read = (environment: NodeJS.ProcessEnv) => readSettings(workerSettings, environment);
await runApp({ name: 'worker', read, deliveryOf, serve: startWorker });
