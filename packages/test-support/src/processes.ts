import { randomInt } from 'node:crypto';
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { until } from './until.js';

const ROOT = join(__dirname, '../../..');
export const API = join(ROOT, 'apps/api/dist/main.js');
export const PORTAL = join(ROOT, 'apps/portal/dist/main.js');
export const WORKER = join(ROOT, 'apps/worker/dist/main.js');
/** The program of `npm start`. */
export const START = join(ROOT, 'apps/cli/dist/start.js');
export const KEYS = join(ROOT, 'apps/cli/dist/keys.js');
export const MIGRATE = join(ROOT, 'apps/cli/dist/migrate.js');
export const ANIMALS = join(ROOT, 'apps/cli/dist/animals.js');
export const ACCOUNTS = join(ROOT, 'apps/cli/dist/accounts.js');

/** Programs that would run an old build if a source was changed after it. global-setup.ts finds that once for a run. */
const COMPILED = /\/(?:apps|packages)\/\w+\/dist\//;

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** The Node.js options of the npm scripts that start these programs. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  [API]: flagsOf('start:api'),
  [START]: flagsOf('start'),
  [WORKER]: flagsOf('start:worker'),
};

function flagsOf(script: string): readonly string[] {
  return / node (--.*) apps\//.exec(scripts[script] ?? '')?.[1]?.split(' ') ?? [];
}

const COMPILE_CACHE = join(tmpdir(), `adoption-store-compile-cache-${userInfo().uid}`);

export type Environment = Readonly<Record<string, string>>;

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The text for people that the API, the portal and the worker print when they are ready. */
const READY_TEXTS = [
  /^\nThe Animal Adoption Store API is ready\.[^]*? curl .*\n\n/m,
  /^ {2}Portal {3}http.*\n\n/m,
  /^The worker is ready: .*\n/m,
];

/** A process started as a user would start it, with only the given settings. */
export class Running {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';

  constructor(
    program: string,
    args: readonly string[],
    environment: Environment,
    options: Pick<SpawnOptions, 'cwd' | 'detached' | 'stdio'> = {},
  ) {
    const stale = process.env['STALE_BUILD'];
    if (stale && COMPILED.test(program)) throw new Error(stale);
    const flags = ['--throw-deprecation', ...(FLAGS[program] ?? [])];
    this.child = spawn(process.execPath, [...flags, program, ...args], {
      cwd: tmpdir(),
      // Any free port, because many processes run at once. They share their compile cache.
      env: {
        PATH: process.env['PATH'],
        METRICS_PORT: '0',
        PORTAL_METRICS_PORT: '0',
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options,
    });
    this.child.stdout?.on('data', (chunk) => (this.stdout += String(chunk)));
    this.child.stderr?.on('data', (chunk) => (this.stderr += String(chunk)));
  }

  /** Standard error without the text that a service prints when it is ready. */
  get errors(): string {
    return READY_TEXTS.reduce((text, ready) => text.replace(ready, ''), this.stderr);
  }

  /** Waits until standard error or standard output matches. */
  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stderr) ?? pattern.exec(this.stdout);
      if (match) return match;
      if (this.child.exitCode !== null) throw new Error(`it ended with ${this.child.exitCode}: ${this.stderr}`);
      const { child } = this;
      const over = new AbortController();
      await Promise.race([
        once(child.stdout ?? child, 'data', over),
        once(child.stderr ?? child, 'data', over),
        once(child, 'close', over),
      ]);
      // Removes the listeners that are still waiting.
      over.abort();
    }
  }

  async finished(): Promise<Finished> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close');
    return { code: this.child.exitCode, stdout: this.stdout, stderr: this.errors };
  }

  /** Sends the signal and waits until the process has ended. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<Finished> {
    this.child.kill(signal);
    return this.finished();
  }
}

export async function run(program: string, args: readonly string[], environment: Environment): Promise<Finished> {
  return new Running(program, args, environment).finished();
}

/** Starts another project's server, and waits until it prints on standard output or error that it is ready. */
export async function launchServer(
  program: string,
  args: readonly string[],
  ready: string,
  as: Pick<SpawnOptions, 'uid' | 'gid'> = {},
): Promise<ChildProcess> {
  const child = spawn(program, args, { ...as, stdio: ['ignore', 'pipe', 'pipe'] });
  // A test run that is interrupted leaves no server behind.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  let output = '';
  const read = (chunk: unknown) => (output += String(chunk));
  for (const stream of [child.stdout, child.stderr]) stream.on('data', read);
  await until(() => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${output}`);
    return output.includes(ready);
  });
  for (const stream of [child.stdout, child.stderr]) stream.off('data', read).resume();
  return child;
}

export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'adoption-store-process-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** A TCP port that is free. Outgoing connections get higher ones, so none takes it before its server listens. */
export async function freePort(): Promise<number> {
  let port = 0;
  await until(async () => {
    port = randomInt(10_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    return isFree;
  });
  return port;
}
