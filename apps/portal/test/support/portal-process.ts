import { type Environment, freePort, PORTAL, Running } from '@adoption-store/test-support';

export interface RunningPortal {
  readonly process: Running;
  readonly origin: string;
  /** Address of its metrics. */
  readonly metrics: string;
}

/** Starts the portal as a separate process on that database. No worker sends its mails. */
export async function runPortal(databaseUrl: string, settings: Environment = {}): Promise<RunningPortal> {
  const [port, metricsPort] = [String(await freePort()), String(await freePort())];
  const process = new Running(PORTAL, [], {
    DATABASE_URL: databaseUrl,
    PORTAL_HOST: '127.0.0.1',
    PORTAL_PORT: port,
    METRICS_HOST: '127.0.0.1',
    PORTAL_METRICS_PORT: metricsPort,
    PORTAL_URL: `http://127.0.0.1:${port}`,
    SMTP_URL: 'smtp://127.0.0.1:1',
    ...settings,
  });
  const [, origin = ''] = await process.prints(/Portal {3}(\S+)/);
  return { process, origin, metrics: `http://127.0.0.1:${metricsPort}/metrics` };
}
