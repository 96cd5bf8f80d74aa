import type { SystemPorts } from '../kernel/ports.js';
import type { WebhookDeliveries, WebhookQueue } from './webhook-queue.js';
import type { WebhookRepository } from './webhook-repository.js';
import type { WebhookSender } from './webhook-sender.js';

export interface WebhookPorts extends SystemPorts {
  readonly webhooks: WebhookRepository;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly webhookQueue: WebhookQueue;
  readonly webhookSender: WebhookSender;
}

export interface WebhookOptions {
  /** Whether mails to accounts are sent. If so, an owner gets one when a webhook was disabled. Default: false. */
  readonly mailsAccounts: boolean;
}
