import { runService } from '@adoption-store/config';
import { startWorker } from './worker.js';

await runService(startWorker);
