import { invalid } from '../kernel/errors.js';
import type { WebhookRequest, WebhookSender } from '../webhooks/webhook-sender.js';

/** Delivers into a list. */
export class InMemoryWebhookSender implements WebhookSender {
  readonly requests: WebhookRequest[] = [];
  /** What the receivers answer: a status, or an error if there is no answer. */
  answer: (request: WebhookRequest) => number | Error = () => 204;

  async check(url: string): Promise<void> {
    if (!url.startsWith('https://')) throw invalid('url', 'must begin with https://');
  }

  async send(request: WebhookRequest): Promise<number> {
    this.requests.push(request);
    const answer = this.answer(request);
    if (answer instanceof Error) throw answer;
    return answer;
  }
}
