import { requestCounterHistoriesSuite, requestCounterSuite } from '@adoption-store/domain/testing';
import { framework } from './framework.js';
import { everyCounter } from './request-counters.js';

for (const [name, open] of everyCounter) {
  requestCounterSuite(framework, name, open);
  requestCounterHistoriesSuite(framework, name, open);
}
