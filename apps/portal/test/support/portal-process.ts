import { ask, type Environment, freePort, PORTAL, Running } from '@adoption-store/test-support';

export interface RunningPortal {
  readonly process: Running;
  readonly origin: string;
  /** Address of its metrics. */
  readonly metrics: string;
}

const TOKEN = 'x'.repeat(43);

/** Stands for a worker that has mailed the address a link: its token. Nothing was recorded before the first one. */
export async function mailSignUp(databaseUrl: string, email: string): Promise<string> {
  await ask(databaseUrl, "UPDATE deployment SET portal_url = 'https://portal.example.com'");
  await ask(
    databaseUrl,
    `INSERT INTO sign_ups (token_hash, email, expires_at)
     VALUES (encode(sha256('${TOKEN}'), 'hex'), '${email}', now() + interval '1 day')`,
  );
  return TOKEN;
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
    ...settings,
  });
  const [, origin = ''] = await process.prints(/Portal {3}(\S+)/);
  return { process, origin, metrics: `http://127.0.0.1:${metricsPort}/metrics` };
}
