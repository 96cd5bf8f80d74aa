import { accountMailQueueSuite } from '@adoption-store/domain/testing';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

accountMailQueueSuite(framework, 'PostgreSQL', openPostgres);
