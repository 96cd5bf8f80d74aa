import type { Instant } from '../kernel/clock.js';

export interface WebhookRequest {
  readonly url: string;
  /** The event's id: `webhook-id`. */
  readonly id: string;
  /** `webhook-timestamp`. */
  readonly at: Instant;
  /** JSON. */
  readonly body: string;
  /** `whsec_…`. The request is signed with each of them. */
  readonly secrets: readonly string[];
}

/** The response of a receiver. */
export interface WebhookResponse {
  readonly status: number;
  /** Milliseconds for which the receiver asks not to be called: `Retry-After`. Undefined if it doesn't. */
  readonly retryAfter: number | undefined;
}

/** Port: calls the receivers of webhooks. */
export interface WebhookSender {
  /**
   * Checks whether a webhook may have this URL, and looks its host up in DNS. Resolves to the URL in the form in which
   * it is stored: normalised by the WHATWG's URL parser, without a fragment.
   *
   * @throws DomainError `invalid_parameter`, naming `url` and the rule. Its message doesn't tell whether the name
   * exists.
   */
  check(url: string): Promise<string>;

  /**
   * Makes one attempt within `timeout` milliseconds. Resolves to the response, whatever its status, even if its body is
   * cut off.
   *
   * @throws Error with the reason if there is no response, or the address isn't allowed.
   */
  send(request: WebhookRequest, timeout: number): Promise<WebhookResponse>;
}
