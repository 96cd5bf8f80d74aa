import { credentialRepositorySuite } from '@adoption-store/domain/testing';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

credentialRepositorySuite(framework, 'PostgreSQL', openPostgres);
