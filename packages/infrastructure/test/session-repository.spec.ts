import { sessionRepositorySuite } from '@adoption-store/domain/testing';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

sessionRepositorySuite(framework, 'PostgreSQL', openPostgres);
