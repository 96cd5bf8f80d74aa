import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { explainListenError, localAddress } from '@adoption-store/config';

export interface Health {
  /** Whether the worker does its work. */
  readonly isReady: () => Promise<boolean>;
  readonly metrics: () => Promise<string>;
  readonly metricsType: string;
}

export interface HealthServer {
  readonly address: string;
  readonly close: () => void;
}

type Page = readonly [status: number, body: string, type?: string];

/** What an orchestrator and Prometheus ask for, over HTTP. */
export async function openHealthServer(health: Health, host: string, port: number): Promise<HealthServer> {
  const server = createServer((request, response) => {
    void pageAt(request.method, request.url, health)
      .catch((): Page => [500, 'internal error\n'])
      .then(([status, body, type = 'text/plain; charset=utf-8']) => {
        response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
      });
  });
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    throw explainListenError(error, { host, port, hostSetting: 'WORKER_HOST', portSetting: 'WORKER_PORT' });
  }
  return {
    address: localAddress(host, (server.address() as AddressInfo).port),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function pageAt(method: string | undefined, url: string | undefined, health: Health): Promise<Page> {
  const path = method === 'GET' || method === 'HEAD' ? url?.split('?')[0] : undefined;
  switch (path) {
    case '/livez':
      return [200, 'ok\n'];
    case '/readyz':
      return (await health.isReady()) ? [200, 'ok\n'] : [503, 'not ready\n'];
    case '/metrics':
      return [200, await health.metrics(), health.metricsType];
    default:
      return [404, 'there is /livez, /readyz and /metrics\n'];
  }
}
