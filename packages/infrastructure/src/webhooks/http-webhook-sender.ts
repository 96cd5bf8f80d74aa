import { invalid, SECOND, type WebhookRequest, type WebhookResponse, type WebhookSender } from '@adoption-store/domain';
import { Webhook } from 'standardwebhooks';
import { abortAfter, failureOf } from '../kernel/answers.js';
import { retryAfter } from './retry-after.js';
import { type ResolveName, resolveName, type WebhookPolicy, WebhookTargets } from './webhook-targets.js';

/** Milliseconds in which the name of a new webhook must be resolved. */
const CHECK_TIMEOUT = 5 * SECOND;
/** Milliseconds after which the next address of a name is tried. */
const NEXT_ADDRESS = 2 * SECOND;
/** Milliseconds in which a response's body is read, so that a receiver whose body stalls doesn't hold its turn. */
const BODY_TIMEOUT = SECOND;
/** Bytes of a response's headers. */
const MOST_HEADERS = 16 * 1_024;
/** Bytes of a response's body that are read, so that a receiver can finish its response. They are thrown away. */
const MOST_BODY = 64 * 1_024;

/** Characters that the WHATWG's URL parser silently removes or replaces. A URL with one is refused. */
const UNCLEAR = /^\s|\s$|[\p{Cc}\\]/u;

/** Calls the receivers by HTTP, and signs as Standard Webhooks says. */
export class HttpWebhookSender implements WebhookSender {
  private readonly targets: WebhookTargets;
  private readonly ca: string | undefined;

  /** @param network set by tests: how names are resolved, and a certificate that is trusted. */
  constructor(policy: WebhookPolicy, network: { readonly resolve?: ResolveName; readonly ca?: string } = {}) {
    this.targets = new WebhookTargets(policy, network.resolve ?? resolveName);
    this.ca = network.ca;
  }

  async check(text: string): Promise<string> {
    if (UNCLEAR.test(text)) throw invalid('url', 'must have no outer white space, control character or backslash');
    const { url } = await abortAfter(CHECK_TIMEOUT, (signal) => this.targets.find(text, signal));
    url.hash = '';
    return url.href;
  }

  async send(request: WebhookRequest, timeout: number): Promise<WebhookResponse> {
    return abortAfter(timeout, async (signal) => {
      try {
        return await this.attempt(request, signal);
      } catch (error) {
        throw signal.aborted ? new Error(`no response within ${timeout} ms`, { cause: error }) : error;
      }
    });
  }

  private async attempt(
    { url: text, id, at, body, secrets }: WebhookRequest,
    signal: AbortSignal,
  ): Promise<WebhookResponse> {
    const { url, addresses } = await this.targets.find(text, signal);
    // Loaded on demand: only the worker sends, and loading takes a tenth of a second.
    const { Client } = await import('undici');
    // A new client for each attempt, so that no connection to an earlier address is reused. It follows no redirects.
    const client = new Client(url.origin, {
      maxHeaderSize: MOST_HEADERS,
      connect: {
        signal,
        ca: this.ca,
        rejectUnauthorized: true,
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: NEXT_ADDRESS,
        // Connects to the checked addresses, and doesn't resolve the name again: it could lead elsewhere by now.
        lookup: (_name, _options, callback) => {
          callback(null, [...addresses]);
        },
      },
    });
    try {
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'adoption-store-webhooks',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at / SECOND)),
        'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, new Date(at), body)).join(' '),
      };
      const path = url.pathname + url.search;
      const response = await client.request({ method: 'POST', path, headers, body, signal });
      // Only the status matters, so it is no failure if the body is cut off.
      await failureOf(abortAfter(BODY_TIMEOUT, (late) => response.body.dump({ limit: MOST_BODY, signal: late })));
      return { status: response.statusCode, retryAfter: retryAfter(response.headers['retry-after'], at) };
    } finally {
      await client.destroy();
    }
  }
}
