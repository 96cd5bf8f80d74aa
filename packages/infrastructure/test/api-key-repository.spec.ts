import { apiKeyRepositorySuite } from '@adoption-store/domain/testing';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

apiKeyRepositorySuite(framework, 'PostgreSQL', openPostgres);
