import { hostname } from 'node:os';
import { destination, type DestinationStream, type Logger, pino } from 'pino';
import { redactKeys } from './redact-keys.js';

// POSIX writes up to this many bytes to a pipe atomically, so lines of several processes don't mix.
const PIPE_BUF = 4_096;
/** Most bytes that wait for a slow reader. Further lines are dropped. */
const BACKLOG = 16 * 1_024 * 1_024;
/** Longest time that a buffered line waits, in milliseconds. */
const LONGEST_WAIT = 1_000;
/** Attempts to write the last lines when the process exits, 100 ms apart (sonic-boom's BUSY_WRITE_TIMEOUT). */
const LAST_ATTEMPTS = 10;

/** A service's log on standard output: JSON lines, or readable text on a terminal. API keys are removed from it. */
export interface Log {
  readonly logger: Logger;
  /**
   * Writes a line of level info cheaply: lines are buffered, so a SIGKILL loses those of the last second.
   *
   * @param fields JSON properties, each preceded by a comma.
   */
  readonly gather: (fields: string) => void;
  /** Resolves when every line is written. `process.exit` alone loses a write that waits for a slow reader. */
  readonly close: () => Promise<void>;
}

interface LogOptions {
  /** The name of the app, `name` in each line. */
  readonly service: string;
  readonly level: string;
}

export async function openLog({ service: name, level }: LogOptions): Promise<Log> {
  const pretty = process.stdout.isTTY ? await terminal() : undefined;
  let attempts = Infinity;
  // Registered before pino's own listener, which writes again unless the stream is destroyed.
  process.on('exit', () => {
    attempts = LAST_ATTEMPTS;
    write();
    try {
      stream.flushSync?.();
    } catch {
      // Nobody reads the output, and the process must end nevertheless.
    }
    stream.destroy?.();
  });
  const stream = pretty ?? lines(() => (attempts -= 1) > 0);
  const base = { pid: process.pid, hostname: hostname(), name };
  const who = JSON.stringify(base).slice(1, -1);
  let gathered = '';
  let timer: NodeJS.Timeout | undefined;
  const write = () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered !== '') stream.write(redactKeys(gathered));
    gathered = '';
  };
  return {
    logger: pino({ level, base, hooks: { streamWrite: redactKeys } }, stream),
    gather(fields) {
      const line = `{"level":30,"time":${Date.now()},${who}${fields}}\n`;
      if (gathered.length + line.length > PIPE_BUF) write();
      gathered += line;
      timer ??= setTimeout(write, LONGEST_WAIT).unref();
    },
    async close() {
      write();
      await new Promise<unknown>((resolve) => {
        if (stream.flush === undefined) resolve(undefined);
        else stream.flush(resolve);
      });
    },
  };
}

interface DependencyChange {
  readonly dependency: string;
  readonly name: string;
  readonly state: 'lost' | 'still lost' | 'back';
  readonly reason?: string;
}

/** A short loss is only a warning: it happens at every upgrade, and nobody has to do anything. */
const LEVELS = { lost: 'warn', 'still lost': 'error', back: 'info' } as const;

/** Logs the loss of a server that the process needs, and its return. */
export function logDependencies({ logger }: Pick<Log, 'logger'>) {
  return ({ dependency, name, state, reason }: DependencyChange): void => {
    logger[LEVELS[state]]({ dependency, reason }, `${name} is ${state}`);
  };
}

type Stream = DestinationStream & {
  readonly flush?: (written: (error?: Error) => void) => void;
  readonly flushSync?: () => void;
  readonly destroy?: () => void;
};

/** Never waits for a slow reader while the process runs. */
function lines(retryEAGAIN: () => boolean): Stream {
  // With a minLength of 0, `flush` calls back before the lines are written.
  return destination({ dest: 1, sync: false, minLength: 1, maxWrite: PIPE_BUF, maxLength: BACKLOG, retryEAGAIN });
}

/** Undefined if pino-pretty isn't installed: it is only for developers. */
async function terminal(): Promise<Stream | undefined> {
  const pretty = await import('pino-pretty').catch(() => undefined);
  return pretty?.default({ sync: true, singleLine: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l' });
}
