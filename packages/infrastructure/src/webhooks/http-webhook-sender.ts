import {
  invalid,
  ours,
  SECOND,
  type WebhookRequest,
  type WebhookResponse,
  type WebhookSender,
} from '@adoption-store/domain';
import { type IncomingMessage, request as callByHttp } from 'node:http';
import { finished } from 'node:stream/promises';
import { Webhook } from 'standardwebhooks';
import { abortAfter, failureOf } from '../kernel/answers.js';
import { withConnection } from './receiver-connection.js';
import { retryAfter } from './retry-after.js';
import { type ResolveName, resolveName, type WebhookPolicy, WebhookTargets } from './webhook-targets.js';

/** Milliseconds in which the name of a new webhook must be resolved. */
const CHECK_TIMEOUT = 5 * SECOND;
/** Milliseconds in which a response's body is read, so that a receiver whose body stalls doesn't hold its round. */
const BODY_TIMEOUT = SECOND;
/** Bytes of a response's headers. */
const MOST_HEADERS = 16 * 1_024;
/** Bytes that are read from the network. The last read may exceed it by 64 KiB, and the kernel holds some more unread. */
const MOST_BYTES = 64 * 1_024;

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
    if (UNCLEAR.test(text)) throw invalid('url', ours`must have no outer white space, control character or backslash`);
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
    const target = await this.targets.find(text, signal);
    const { host, pathname, search } = target.url;
    const options = {
      method: 'POST',
      path: pathname + search,
      headers: {
        host,
        'content-type': 'application/json',
        'user-agent': 'adoption-store-webhooks',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at / SECOND)),
        'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, new Date(at), body)).join(' '),
      },
      maxHeaderSize: MOST_HEADERS,
      signal,
    };
    return withConnection(target, { signal, ca: this.ca, mostBytes: MOST_BYTES }, async (connection) => {
      // It follows no redirects.
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const call = callByHttp({ ...options, createConnection: () => connection }, resolve).on('error', reject);
        // A 101 closes the connection without an error.
        call.on('close', () => {
          reject(new Error('no response'));
        });
        call.end(body);
      });
      // The body is thrown away. Reading it lets the receiver finish. It is no failure if the body is cut off.
      response.resume();
      await failureOf(abortAfter(BODY_TIMEOUT, (late) => finished(response, { signal: late })));
      return {
        status: response.statusCode ?? 0,
        retryAfter: retryAfter(response.headersDistinct['retry-after'], at),
      };
    });
  }
}
