import { webhookQueueSuite, webhookRepositorySuite } from '@adoption-store/domain/testing';
import { openPostgres } from './databases.js';
import { framework } from './framework.js';

webhookRepositorySuite(framework, 'PostgreSQL', openPostgres);
webhookQueueSuite(framework, 'PostgreSQL', openPostgres);
