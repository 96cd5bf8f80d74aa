import { idempotencyRecordsSuite } from '@adoption-store/domain/testing';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

idempotencyRecordsSuite(framework, 'PostgreSQL', openPostgres);
