import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { ConfigError, EXIT_CONFIG } from './environment.js';

/** Milliseconds of SHUTDOWN_TIMEOUT that are left for closing, once nothing that is under way is waited for any more. */
export const CLOSING_TIME = 3_000;

/** The message that a service sends to its parent process when it is ready. */
export const READY = 'ready';

/** Adds what `.env` says to the environment. */
export function loadEnvFile(): void {
  if (existsSync('.env')) process.loadEnvFile('.env');
}

/**
 * The life of a process that serves until it is told to stop: starts the service, and ends it by what `start` returns.
 * `told` is aborted with the signal's name at once. Why it couldn't start is told in one sentence.
 */
export async function runService<Settings extends { readonly SHUTDOWN_TIMEOUT: number }>(
  read: (environment: NodeJS.ProcessEnv) => Settings,
  start: (settings: Settings, told: AbortSignal) => Promise<() => Promise<void>>,
): Promise<never> {
  try {
    loadEnvFile();
    const settings = read(process.env);
    // Before the start, so that a Ctrl-C while PostgreSQL is starting leaves none behind.
    const told = toldToStop(settings.SHUTDOWN_TIMEOUT);
    const close = await start(settings, told).catch((error: unknown) => {
      // A Ctrl-C reaches whatever the start has run, too: that this fails then is no news.
      if (told.aborted) process.exit(0);
      throw error;
    });
    // Where whoever started it has gone meanwhile, it is told to stop: that the word gets lost is no failure.
    process.send?.(READY, undefined, undefined, () => undefined);
    if (!told.aborted) await once(told, 'abort');
    await close();
    process.exit(0);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
  }
}

/**
 * The first signal to stop, or the end of a parent that holds a channel to us. npm passes on a Ctrl-C that the terminal
 * has already sent to everybody, so the ones after it mean nothing.
 */
function toldToStop(timeout: number): AbortSignal {
  const told = new AbortController();
  const stop = (signal?: NodeJS.Signals) => {
    setTimeout(giveUp, timeout, timeout).unref();
    told.abort(signal);
  };
  for (const name of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.on(name, stop);
  // The parent may be gone already.
  if (process.send !== undefined && !process.connected) stop();
  return told.signal;
}

function giveUp(timeout: number): void {
  console.error(`the service did not end within ${timeout / 1_000} s of being told to, so it is ended now`);
  process.exit(1);
}

/** Where a service was to listen, and the names of the settings that say so. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly hostSetting: string;
  readonly portSetting: string;
}

/** Why a server can't listen there, as a sentence that says what to do about it. */
export function explainListenError(error: unknown, { host, port, hostSetting, portSetting }: ListenAddress): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return new Error(`port ${port} of ${host} is in use by another program; ${portSetting} names another one`);
    case 'EACCES':
      return new Error(`port ${port} of ${host} may not be opened by this user; ${portSetting} names another one`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Error(`${host} is not an address of this machine; ${hostSetting} names the one to listen on`);
    default:
      return error;
  }
}

/** Where a person on this machine reaches what listens there. */
export function localAddress(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
