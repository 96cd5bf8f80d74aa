import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { folderOf, freePort, until } from '@adoption-store/test-support';

export const HAPROXY = folderOf('the proxy', 'haproxy', 'haproxy');
const PROXY_CONFIG = join(__dirname, '../../docker/haproxy/haproxy.cfg');

interface ProxySettings {
  readonly API_1: string;
  readonly API_2: string;
  readonly PORTAL: string;
  readonly PORTAL_URL?: string;
  readonly TLS_CERTIFICATE?: string;
}

interface ProxyLine {
  readonly msg: string;
  readonly request_id?: string;
  readonly server?: string;
  readonly status: number;
}

/** HAProxy as the image starts it, with the configuration that is mounted there. */
export class Proxy {
  log = '';

  private constructor(
    readonly child: ChildProcess,
    readonly port: number,
    readonly origin: string,
    readonly metrics: string,
  ) {
    child.stdout?.on('data', (chunk) => (this.log += String(chunk)));
  }

  static async start(settings: ProxySettings): Promise<Proxy> {
    const [port, metricsPort] = [await freePort(), await freePort()];
    const address = `127.0.0.1:${port}`;
    const child = spawn(join(HAPROXY ?? '', 'haproxy'), ['-W', '-db', '-f', PROXY_CONFIG], {
      env: {
        PROXY_ADDRESS: address,
        PROXY_TLS_ADDRESS: address,
        PROXY_METRICS_ADDRESS: `127.0.0.1:${metricsPort}`,
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const scheme = settings.TLS_CERTIFICATE === undefined ? 'http' : 'https';
    const proxy = new Proxy(child, port, `${scheme}://${address}`, `http://127.0.0.1:${metricsPort}/metrics`);
    await until(() => proxy.measure('haproxy_process_uptime_seconds').then(Number.isFinite, () => false));
    return proxy;
  }

  /** The value that Prometheus would read for one series, by its name and labels as written. */
  async measure(series: string): Promise<number> {
    const lines = (await (await fetch(this.metrics)).text()).split('\n');
    return Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length));
  }

  /** Waits until `count` servers of a backend take requests. */
  async hasServers(backend: 'api' | 'portal', count: number): Promise<void> {
    await until(async () => (await this.measure(`haproxy_backend_active_servers{proxy="${backend}"}`)) === count);
  }

  /** The log lines of requests. */
  get lines(): readonly ProxyLine[] {
    return this.log
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as ProxyLine);
  }

  /** The line of one request. It is written together with the answer. */
  async lineOf(requestId: string): Promise<ProxyLine> {
    await until(() => this.log.includes(`"${requestId}"`));
    const [line, ...others] = this.lines.filter(({ request_id }) => request_id === requestId);
    if (line === undefined || others.length > 0) throw new Error(`not one line has the id ${requestId}`);
    return line;
  }

  /** Ends it and the processes that it has started. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await once(this.child, 'exit');
  }
}
