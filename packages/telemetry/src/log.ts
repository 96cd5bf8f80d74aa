import { hostname } from 'node:os';
import { tell } from '@adoption-store/config';
import { type Logger, pino } from 'pino';
import { LineWriter } from './line-writer.js';

/** Most characters of lines that wait to be written together. */
const MOST_GATHERED = 4_096;
/** Longest time that a buffered line waits, in milliseconds. */
const LONGEST_WAIT = 1_000;
/** Milliseconds without a dropped line after which the next one is reported again. */
const QUIET = 60_000;

/** A service's log on standard output: JSON lines, or readable text on a terminal. API keys are removed from it. */
export interface Log {
  readonly logger: Logger;
  /**
   * Writes a line of level info cheaply: lines are buffered, so a SIGKILL loses those of the last second.
   *
   * @param fields JSON properties, each preceded by a comma.
   */
  readonly gather: (fields: string) => void;
  /**
   * Writes a line at any log level, and resolves when it is written.
   *
   * @throws Error if it can't be written, as on a full disk.
   */
  readonly deliver: (fields: object) => Promise<void>;
  /** The number of lines that could not be written. */
  readonly dropped: () => number;
  /** Resolves when every line is written or dropped. `process.exit` alone loses writes that wait for a slow reader. */
  readonly close: () => Promise<void>;
}

interface LogOptions {
  /** The name of the app, `name` in each line. */
  readonly service: string;
  readonly level: string;
}

export async function openLog({ service: name, level }: LogOptions): Promise<Log> {
  const pretty = process.stdout.isTTY ? await terminal() : undefined;
  const writer = new LineWriter(1, {
    onDrop: reportDrops(),
    onRecovery: () => {
      logger.warn({ dropped: writer.dropped }, 'lines of this log could not be written');
    },
  });
  const toText = (lines: string) => {
    const text = redactKeys(lines);
    return pretty === undefined ? text : text.trimEnd().split('\n').map(pretty).join('');
  };
  const base = { pid: process.pid, hostname: hostname(), name };
  const stream = {
    write: (line: string) => {
      writer.write(toText(line));
    },
  };
  const logger = pino({ level, base }, stream);
  const who = JSON.stringify(base).slice(1, -1);
  const lineOf = (fields: string) => `{"level":30,"time":${Date.now()},${who}${fields}}\n`;
  let gathered = '';
  let timer: NodeJS.Timeout | undefined;
  const writeGathered = () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered !== '') stream.write(gathered);
    gathered = '';
  };
  process.on('exit', () => {
    writeGathered();
    writer.end();
  });
  return {
    logger,
    gather(fields) {
      const line = lineOf(fields);
      if (gathered.length + line.length > MOST_GATHERED) writeGathered();
      gathered += line;
      timer ??= setTimeout(writeGathered, LONGEST_WAIT).unref();
    },
    deliver(fields) {
      return new Promise((resolve, reject) => {
        writer.write(toText(lineOf(`,${JSON.stringify(fields).slice(1, -1)}`)), (failure) => {
          if (failure === undefined) resolve();
          else reject(failure);
        });
      });
    },
    dropped: () => writer.dropped,
    async close() {
      writeGathered();
      await writer.flush();
    },
  };
}

/** Returns a function that tells the operator on standard error when lines begin to be dropped. */
function reportDrops(): (reason: Error) => void {
  let last = -Infinity;
  return ({ message }) => {
    const now = performance.now();
    if (now - last > QUIET) tell(`the log can't be written (${message}), so its lines are dropped`);
    last = now;
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

/** Undefined if pino-pretty isn't installed: it is only for developers. */
async function terminal(): Promise<((line: string) => string) | undefined> {
  const pretty = await import('pino-pretty').catch(() => undefined);
  return pretty?.prettyFactory({ singleLine: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l' });
}

/** API keys, also as a part of a longer text. */
const KEYS = /aas_[a-z]+_\w*/g;

/** A client's text with its API keys removed, which a careless client may have put into it. */
export function redactKeys(text: string): string {
  return text.includes('aas_') ? text.replace(KEYS, 'redacted') : text;
}
