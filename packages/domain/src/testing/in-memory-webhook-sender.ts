import { invalid, ours } from '../kernel/errors.js';
import type { WebhookRequest, WebhookResponse, WebhookSender } from '../webhooks/webhook-sender.js';

/** Delivers into a list. */
export class InMemoryWebhookSender implements WebhookSender {
  readonly requests: WebhookRequest[] = [];
  /** Returns the receiver's answer: a status, a whole response, or an error if there is no response. */
  answer: (request: WebhookRequest) => number | WebhookResponse | Error = () => 204;

  async check(url: string): Promise<string> {
    if (!url.startsWith('https://')) throw invalid('url', ours`must begin with https://`);
    return url.replace(/#.*$/s, '');
  }

  async send(request: WebhookRequest): Promise<WebhookResponse> {
    this.requests.push(request);
    const answer = this.answer(request);
    if (answer instanceof Error) throw answer;
    return typeof answer === 'number' ? { status: answer, retryAfter: undefined } : answer;
  }
}
