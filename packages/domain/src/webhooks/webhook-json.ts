import type { Fields } from '../animals/animal.js';
import { isoTime } from '../published/json.js';
import type { Webhook } from './webhook.js';

/** A webhook as its account sees it. A new field of webhooks is shown, or named here among those that aren't. */
export type WebhookJson = Readonly<
  Omit<Webhook, 'accountId' | 'recoveringSince' | 'createdAt' | 'updatedAt'> & {
    recoveringSince: string | undefined;
    createdAt: string;
    updatedAt: string;
  }
>;

export function webhookJson({ recoveringSince: since, ...webhook }: Webhook): WebhookJson {
  return {
    id: webhook.id,
    url: webhook.url,
    types: webhook.types,
    description: webhook.description,
    status: webhook.status,
    recoveringSince: since === undefined ? undefined : isoTime(since),
    createdAt: isoTime(webhook.createdAt),
    updatedAt: isoTime(webhook.updatedAt),
  } satisfies Fields<WebhookJson>;
}
