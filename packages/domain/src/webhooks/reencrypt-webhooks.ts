import type { WebhookPorts } from './ports.js';
import type { Webhook, WebhookId } from './webhook.js';

/** Webhooks that are read at a time. */
const PORTION = 100;

/** Encrypts the secrets of all webhooks with the first key, so that the others can be dropped. */
export class ReencryptWebhooks {
  constructor(private readonly ports: Pick<WebhookPorts, 'webhooks' | 'clock'>) {}

  /**
   * The webhooks to which nothing can be sent, because no key of this process decrypts their secret.
   *
   * @param isStopping whether to end after the current portion.
   */
  async execute(isStopping: () => boolean = () => false): Promise<readonly Pick<Webhook, 'id' | 'status'>[]> {
    const { webhooks, clock } = this.ports;
    const unreadable: Pick<Webhook, 'id' | 'status'>[] = [];
    let after: WebhookId | undefined;
    do {
      const part = await webhooks.reencrypt({ after, limit: PORTION }, clock.now());
      unreadable.push(...part.unreadable);
      after = part.last;
    } while (after !== undefined && !isStopping());
    return unreadable;
  }
}
