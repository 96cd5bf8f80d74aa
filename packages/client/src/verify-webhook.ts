import { Webhook } from 'standardwebhooks';
import type { StoreEvent } from './events.js';
import { fits, fromJson } from './json.js';

/** A request that a receiver of a webhook has got. */
export interface ReceivedWebhook {
  /** The body as it came, not parsed: the signature is of its bytes. */
  readonly body: string | Uint8Array | ArrayBuffer;
  /** Such as `request.headers` of Node.js, or `Headers`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** `whsec_…`. Of several, one must have signed. */
  readonly secret: string | readonly string[];
}

/** An event, or what `webhooks.ping` sends. */
export type WebhookEvent =
  StoreEvent | (Omit<StoreEvent<'webhook.ping'>, 'sequence'> & { readonly sequence?: undefined });

const PING = { type: 'string', timestamp: 'string', data: {} } as const;
const DELIVERY = { ...PING, sequence: 'integer' } as const;

/**
 * The event that a webhook's receiver has got. A delivery may come twice, with the same `id`.
 *
 * @throws Error unless the body is signed with a secret of these, and not more than five minutes ago.
 */
export function verifyWebhook({ body, headers, secret }: ReceivedWebhook): WebhookEvent {
  const text = textOf(body);
  const id = headerOf(headers, 'webhook-id');
  requireSignature([secret].flat(), text, {
    'webhook-id': id,
    'webhook-timestamp': headerOf(headers, 'webhook-timestamp'),
    'webhook-signature': headerOf(headers, 'webhook-signature'),
  });
  const delivery = fromJson(text);
  if (!fits(delivery, PING)) throw new Error('the body of the webhook is no event');
  const { type, timestamp: createdAt, sequence, data } = delivery as Record<keyof typeof DELIVERY, unknown>;
  if (type === 'webhook.ping') return { id, type, createdAt, data } as WebhookEvent;
  if (!fits(delivery, DELIVERY)) throw new Error('the body of the webhook is no event');
  return { id, type, sequence, createdAt, data } as WebhookEvent;
}

function requireSignature(secrets: readonly string[], body: string, headers: Record<string, string>): void {
  const refusals = secrets.map((secret) => {
    const webhook = webhookOf(secret);
    try {
      webhook.verify(body, headers, { jsonParse: false });
      return undefined;
    } catch (error) {
      return error;
    }
  });
  if (refusals.includes(undefined)) return;
  const [cause = new Error('no secret is given')] = refusals as readonly Error[];
  throw new Error(`the webhook is not verified: ${cause.message}`, { cause });
}

function webhookOf(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch (cause) {
    throw new TypeError('secret must be whsec_ and base64', { cause });
  }
}

function textOf(body: ReceivedWebhook['body']): string {
  if (typeof body === 'string') return body;
  try {
    // The signature is of a byte order mark too.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch (cause) {
    throw new TypeError('body must be the body as it came, as a string or UTF-8 bytes, not parsed', { cause });
  }
}

function headerOf(headers: ReceivedWebhook['headers'], name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  if (typeof value === 'string') return value;
  throw new Error(`the webhook has no header ${name}`);
}

/** Not `instanceof`: a package may bring its own class. */
function isHeaders(headers: ReceivedWebhook['headers']): headers is Headers {
  return typeof headers['get' as keyof typeof headers] === 'function';
}
