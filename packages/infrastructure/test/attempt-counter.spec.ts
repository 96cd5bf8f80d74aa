import { attemptCounterSuite } from '@adoption-store/domain/testing';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

attemptCounterSuite(framework, 'PostgreSQL', openPostgres);
