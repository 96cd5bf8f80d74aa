import { accountRepositorySuite } from '@adoption-store/domain/testing';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

accountRepositorySuite(framework, 'PostgreSQL', openPostgres);
