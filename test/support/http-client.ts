import { Agent, request } from 'node:http';

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends requests to the API with one key, on connections that stay open. */
export class HttpClient {
  private readonly agent;

  constructor(
    private readonly key: string,
    maxSockets = Infinity,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets });
  }

  send(
    method: string,
    url: string,
    { body, headers = {} }: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Received> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const all = { authorization: `Bearer ${this.key}`, ...type, ...headers };
    return new Promise((resolve, reject) => {
      request(url, { agent: this.agent, method, headers: all }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      })
        .on('error', reject)
        .end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
