import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { freePort, launchServer, temporaryFolder } from './processes.js';
import { folderOf } from './programs.js';

/** A Redis for a suite that doesn't stop or damage it: the one of REDIS_URL, or a new one. */
export interface TestRedis {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Opens a Redis.
 *
 * @returns undefined, with a warning, if none is available.
 * @throws Error if none is available and REQUIRE_PROGRAMS is set.
 */
export function redisFor(suite: string): (() => Promise<TestRedis>) | undefined {
  const url = process.env['REDIS_URL'];
  if (url !== undefined) return () => Promise.resolve({ url, close: () => Promise.resolve() });
  return redisServerFor(suite);
}

/** Like `redisFor`, for suites that kill the server: always starts a new one. */
export function redisServerFor(suite: string, settings: RedisSettings = {}): (() => Promise<RedisServer>) | undefined {
  return isRedisInstalled(suite) ? () => RedisServer.start(settings) : undefined;
}

/** Whether a suite can start servers; warns if not. */
export function isRedisInstalled(suite: string): boolean {
  return folderOf(suite, 'redis-server', 'redis-server') !== undefined;
}

/** Settings of redis-server. */
export type RedisSettings = Readonly<Record<string, string>>;

/** A Redis that stores nothing on disk by default. It keeps its address when it is restarted. */
export class RedisServer implements TestRedis {
  private constructor(
    readonly port: number,
    private readonly folder: { readonly path: string; remove(): Promise<void> },
    private readonly settings: RedisSettings,
    private child: ChildProcess,
  ) {}

  static async start(settings: RedisSettings = {}): Promise<RedisServer> {
    const [port, folder, all] = await Promise.all([freePort(), temporaryFolder(), withTlsPort(settings)]);
    return new RedisServer(port, folder, all, await launch(argumentsOf(port, folder.path, all)));
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** The port with TLS, if it has a certificate. */
  get tlsPort(): string | undefined {
    return this.settings['tls-port'];
  }

  /** Sends a command with a one-line reply, as the user `default`. */
  ask(command: string): Promise<string> {
    const { requirepass } = this.settings;
    return askRedis(requirepass === undefined ? this.url : this.url.replace('//', `//:${requirepass}@`), command);
  }

  kill(): Promise<void> {
    return endOf(this.child);
  }

  async startAgain(): Promise<void> {
    this.child = await launch(argumentsOf(this.port, this.folder.path, this.settings));
  }

  /** Connections stay open but get no answers. */
  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.child.kill('SIGCONT');
  }

  async close(): Promise<void> {
    await this.kill();
    await this.folder.remove();
  }
}

/** A server with a certificate has one more port. */
async function withTlsPort(settings: RedisSettings): Promise<RedisSettings> {
  return 'tls-cert-file' in settings ? { ...settings, 'tls-port': String(await freePort()) } : settings;
}

/** Kills a process, and waits for its end. */
async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function argumentsOf(port: number, folder: string, own: RedisSettings): readonly string[] {
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    appendonly: 'no',
    // By default a new replica waits 5 s for others.
    'repl-diskless-sync-delay': '0',
    ...own,
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

function launch(args: readonly string[]): Promise<ChildProcess> {
  const program = join(folderOf('Redis', 'redis-server', 'redis-server') ?? '', 'redis-server');
  return launchServer(program, args, 'Ready to accept connections');
}

/**
 * Sends a Redis command with a one-line reply, such as `PTTL key`, and returns the reply without its type prefix.
 *
 * @param url one with a password logs in first.
 */
export async function askRedis(url: string, command: string): Promise<string> {
  const { hostname, port, password } = new URL(url);
  const socket = connect(Number(port || '6379'), hostname);
  try {
    if (password !== '') await replyTo(socket, `AUTH ${password}`);
    return await replyTo(socket, command);
  } finally {
    socket.destroy();
  }
}

async function replyTo(socket: Socket, command: string): Promise<string> {
  socket.write(`${command}\r\n`);
  const [reply] = (await once(socket, 'data')) as [Buffer];
  const [, text] = /^(?:[:+]|\$\d+\r\n)(.*)\r\n$/s.exec(reply.toString()) ?? [];
  if (text === undefined) throw new Error(`${command}: ${reply.toString()}`);
  return text;
}
