import type { Instant } from '../kernel/clock.js';

export interface WebhookRequest {
  readonly url: string;
  /** The event's id: `webhook-id`. */
  readonly id: string;
  /** `webhook-timestamp`. */
  readonly at: Instant;
  /** JSON. */
  readonly body: string;
  /** `whsec_…`; each signs. */
  readonly secrets: readonly string[];
}

export interface WebhookResponse {
  readonly status: number;
  /** Milliseconds after which the receiver wants to be called again: its `Retry-After`. */
  readonly retryAfter?: number | undefined;
}

/** Port: calls the receivers of webhooks. */
export interface WebhookSender {
  /**
   * Checks where a webhook may go; resolves its name.
   *
   * @throws DomainError `invalid_parameter`, naming `url` and the rule.
   */
  check(url: string): Promise<void>;

  /**
   * Makes one attempt within `timeout` milliseconds. Resolves to the response, whatever its status is.
   *
   * @throws Error with the reason if there is no response, or the address isn't allowed.
   */
  send(request: WebhookRequest, timeout: number): Promise<WebhookResponse>;
}
