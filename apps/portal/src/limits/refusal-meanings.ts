/** The meaning of each code of a failed request (4xx), and what to do. A test compares them with the API's description. */
export const REFUSAL_MEANINGS: Readonly<Record<string, string>> = {
  invalid_parameter: 'A parameter or a field of the body breaks a rule. The reason names it.',
  invalid_json: 'The body is not JSON. The reason says where it goes wrong.',
  unsupported_media_type: 'Send the header Content-Type: application/json, in UTF-8.',
  bad_request: 'The request is not valid HTTP, or its path is badly encoded.',
  idempotency_key_reused: 'The Idempotency-Key was used for another request. Use a new one for each request.',
  idempotency_key_in_use: 'Another request with this Idempotency-Key was in progress. Send it again.',
  missing_api_key: 'The request had no key.',
  invalid_api_key: 'The key is not valid.',
  expired_api_key: 'The key has expired. Generate another one.',
  disabled_api_key: 'The key is disabled. You can enable it on its page.',
  revoked_api_key: 'The key was revoked. If you still need it, generate another one.',
  insufficient_scope:
    'The key or your account lacks a scope of the operation. Use a key that has it, or ask for it if your account lacks it.',
  not_found: 'There is nothing at this path, or no such resource, or it is not yours.',
  method_not_allowed: 'The path has no such method. The header Allow of the response lists those that it has.',
  pet_not_available: 'The animal was ordered or sold.',
  order_final: 'The order has already ended.',
  order_in_progress: 'The animal can’t be changed while an order for it is placed.',
  invalid_transition: 'The animal’s status can’t be changed in this way.',
  too_many_orders: 'Too many of your orders are placed at the same time. Complete or cancel some first.',
  too_many_messages: 'Too many of your messages wait to be sent. Wait until some are sent.',
  category_name_taken: 'Another category has this name.',
  category_in_use: 'The category still has animals.',
  too_many_webhooks: 'The account has as many webhooks as it can have. Delete one first.',
  too_many_pings: 'As many pings wait as can wait. They are sent one after the other; ping again later.',
  too_many_secrets: 'The webhook has as many secrets that sign as it can have. Wait until the oldest has ended.',
  webhook_disabled: 'The webhook is disabled, so nothing would be sent. Enable it first.',
  cursor_expired: 'Some of the events after this cursor are no longer kept, or were undone. List again.',
  precondition_failed: 'The resource was changed since you read it. Read it again, then repeat your change.',
  request_timeout: 'The request did not arrive completely in time.',
  gone: 'The operation has been removed.',
  payload_too_large: 'The body is too large.',
  uri_too_long: 'The address is too long.',
  expectation_failed: 'The header Expect may only be 100-continue.',
  headers_too_large: 'The headers are too large.',
  rate_limited: 'Too many requests in this minute. Wait as long as Retry-After says. No quota was used.',
  daily_quota_exceeded: 'Too many requests today. Wait as long as Retry-After says. No quota was used.',
  key_banned: 'The key is banned for a while: it kept sending after 429s. No quota was used.',
  too_many_at_once:
    'Too many requests of the account were under way at the same time. This is no rate limit: send fewer at once. It counted as one request.',
};

/** Where these codes are explained further: sections of the quickstart. */
export const REFUSAL_SECTIONS: Readonly<Record<string, { readonly id: string; readonly title: string } | undefined>> = {
  rate_limited: { id: 'limits', title: 'Limits and errors' },
  daily_quota_exceeded: { id: 'limits', title: 'Limits and errors' },
  key_banned: { id: 'limits', title: 'Limits and errors' },
  gone: { id: 'deprecation', title: 'How we deprecate' },
};

/** For a code that is newer than this list. */
export const UNKNOWN_REFUSAL = 'The API reference explains this code.';
