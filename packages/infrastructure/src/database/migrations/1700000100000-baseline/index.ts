import type { QueryRunner } from 'typeorm';
import { ACCOUNTS } from './accounts.js';
import { CATALOGUE } from './catalogue.js';
import { EVENTS } from './events.js';
import { MESSAGES } from './messages.js';
import { ORDERS } from './orders.js';
import { REQUESTS } from './requests.js';
import { WEBHOOKS } from './webhooks.js';

/**
 * The schema of 1.0.0, by context, and its first rows. Later migrations change it.
 *
 * Constraints have the names that PostgreSQL would give them, because entities and later migrations name them. NOT NULL
 * has no name here: before version 18 PostgreSQL keeps none.
 */
export class Baseline1700000100000 {
  async up(runner: QueryRunner): Promise<void> {
    // Accounts come early, because most other tables refer to them.
    for (const context of [CATALOGUE, ACCOUNTS, REQUESTS, ORDERS, MESSAGES, EVENTS, WEBHOOKS]) {
      await runner.query(context);
    }
  }
}
