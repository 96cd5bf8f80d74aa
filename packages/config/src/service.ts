import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { takeNoArguments } from './arguments.js';
import { ConfigError, EXIT_CONFIG } from './environment.js';
import { tell } from './tell.js';

/** Milliseconds of SHUTDOWN_TIMEOUT that are left for closing connections, after the last requests. */
export const CLOSING_TIME = 3_000;

/** Adds the variables of `.env` to the environment. */
export function loadEnvFile(): void {
  if (!existsSync('.env')) return;
  try {
    process.loadEnvFile('.env');
  } catch {
    throw new ConfigError(['.env must be a file that can be read']);
  }
}

const USAGE = 'A service has no arguments. Its settings are environment variables: see docker/settings.md.\n';

/**
 * Runs a service: starts it, waits for a signal to stop, and calls the function that `start` returned. `stopping` is
 * aborted as soon as the signal arrives; its reason is the signal's name. A failed start prints one sentence and exits.
 */
export async function runService<Settings extends { readonly SHUTDOWN_TIMEOUT: number }>(
  read: (environment: NodeJS.ProcessEnv) => Settings,
  start: (settings: Settings, stopping: AbortSignal) => Promise<() => Promise<void>>,
): Promise<never> {
  takeNoArguments(USAGE);
  try {
    loadEnvFile();
    const settings = read(process.env);
    // Registered before the start, so that a Ctrl-C while PostgreSQL is starting leaves no server behind.
    const stopping = stopSignal(settings.SHUTDOWN_TIMEOUT);
    const close = await start(settings, stopping).catch((error: unknown) => {
      // A Ctrl-C also reaches the child processes, so the start fails because of it. That isn't an error to report.
      if (stopping.aborted) process.exit(0);
      throw error;
    });
    // The parent may be gone. Then the channel's end already tells this process to stop, so a failed send is ignored.
    process.send?.('ready', undefined, undefined, () => undefined);
    if (!stopping.aborted) await once(stopping, 'abort');
    await close();
    process.exit(0);
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error));
    process.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
  }
}

/**
 * Aborted at the first signal to stop, or when a parent with a channel to this process ends. npm forwards a Ctrl-C that
 * the terminal already sent to every process, so later signals are ignored.
 */
function stopSignal(timeout: number): AbortSignal {
  const stopping = new AbortController();
  const stop = (signal?: NodeJS.Signals) => {
    setTimeout(giveUp, timeout, timeout).unref();
    stopping.abort(signal);
  };
  for (const name of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.on(name, stop);
  // The parent may have ended before the listener was added.
  if (process.send !== undefined && !process.connected) stop();
  return stopping.signal;
}

function giveUp(timeout: number): void {
  tell(`the service did not stop within ${timeout / 1_000} s of the signal, so it is killed now`);
  process.exit(1);
}

/** The address a service listens on, and the names of the settings for it. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly hostSetting: string;
  readonly portSetting: string;
}

/** An Error that says why the server can't listen there and which setting to change. */
export function explainListenError(error: unknown, { host, port, hostSetting, portSetting }: ListenAddress): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return new Error(`port ${port} of ${host} is in use by another program; set ${portSetting} to another one`);
    case 'EACCES':
      return new Error(`port ${port} of ${host} may not be opened by this user; set ${portSetting} to another one`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Error(`${host} is not an address of this machine; set ${hostSetting} to one that is`);
    default:
      return error;
  }
}

/** The URL at which a browser on this machine reaches the service. */
export function localAddress(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
