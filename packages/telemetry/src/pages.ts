import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { explainListenError, type ListenAddress, localAddress } from '@adoption-store/config';

export interface Page {
  readonly status: number;
  readonly body: string;
  /** The content type. Default: plain text. */
  readonly type?: string;
}

export type Pages = Readonly<Record<string, () => Promise<Page>>>;

export interface PageServer {
  /** Such as `http://localhost:9464`. */
  readonly address: string;
  readonly close: () => void;
}

/**
 * Serves metrics and health pages for the operator, on a port that clients can't reach.
 *
 * @throws Error that says in one sentence why it can't listen there.
 */
export async function servePages(pages: Pages, where: ListenAddress): Promise<PageServer> {
  const { host, port } = where;
  const server = createServer((request, response) => {
    void pageAt(request.method, request.url, pages)
      .catch((): Page => ({ status: 500, body: 'internal error\n' }))
      .then(({ status, body, type = 'text/plain; charset=utf-8' }) => {
        response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
      });
  });
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    throw explainListenError(error, where);
  }
  return {
    address: localAddress(host, (server.address() as AddressInfo).port),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function pageAt(method: string | undefined, url: string | undefined, pages: Pages): Promise<Page> {
  const path = method === 'GET' || method === 'HEAD' ? (url?.split('?')[0] ?? '') : '';
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  return page === undefined ? { status: 404, body: `try ${Object.keys(pages).join(', ')}\n` } : page();
}
