/** Internals that tests of other packages need. */
export { migrate, MIGRATION_LOCK } from './database/migrate.js';
export { HttpWebhookSender } from './webhooks/http-webhook-sender.js';
