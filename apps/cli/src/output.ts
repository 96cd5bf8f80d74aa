import { fstatSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { types } from 'node:util';
import { type Application, type IssuedKey, reasonOf } from '@adoption-store/domain';

/** Rows that are read and printed at a time, so that the memory use doesn't grow with the list. */
const PART = 1_000;

/** The output of a command: a text, several texts, the content of a file, or a key that is shown once. */
export type Output = string | AsyncIterable<string> | { readonly content: AsyncIterable<string> } | IssuedKey;

/** The streams of a command. */
export interface Streams {
  readonly stdin: Readable;
  /** With a file descriptor, if it is the process's. */
  readonly stdout: Writable & { readonly fd?: number; readonly isTTY?: boolean };
  readonly stderr: Writable;
}

/**
 * `write` reports a failed write to its callback. Without a listener, the stream's 'error' event would end the process.
 */
export function surviveFailedWrites({ stdout, stderr }: Pick<Streams, 'stdout' | 'stderr'>): void {
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined);
}

// A terminal executes control characters, and bidirectional controls can make a text look like another one.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** The text as one line that is safe to print. It may contain parts that strangers have written. */
export function inOneLine(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) =>
    character === '\n' ? '\\n' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A text of several lines that is safe to print. All commands use this for their output. */
export function printable(text: string): string {
  return text.split('\n').map(inOneLine).join('\n');
}

/** @throws Error with one sentence if the output can't be written. */
export async function show(
  output: Output,
  { rollBackKey }: Pick<Application, 'rollBackKey'>,
  { stdout }: Streams,
): Promise<void> {
  if (typeof output !== 'string' && 'key' in output) {
    await showKey(output, rollBackKey, stdout);
    return;
  }
  const isContent = typeof output !== 'string' && 'content' in output;
  const texts = isContent ? output.content : typeof output === 'string' ? [output] : output;
  try {
    for await (const text of texts) await write(stdout, isContent && stdout.isTTY !== true ? text : printable(text));
  } catch (error) {
    // The reader has closed the pipe, as `head` does.
    if (codeOf(error) === 'EPIPE') return;
    if (isSystemError(error)) throw new Error(`the output could not be written (${codeOf(error)})`, { cause: error });
    throw error;
  }
}

async function showKey(
  issued: IssuedKey,
  rollBackKey: Application['rollBackKey'],
  stdout: Streams['stdout'],
): Promise<void> {
  try {
    if (goesNowhere(stdout)) throw new Error('the output is closed');
    await write(stdout, `${issued.text}\n`);
  } catch (error) {
    const { id, ending } = issued.key;
    const failure = `key ${id} (…${ending}) could not be shown (${codeOf(error)})`;
    await rollBackKey.execute(issued).catch((cause: unknown) => {
      throw new Error(`${failure}, and could not be revoked (${codeOf(cause)}): run \`keys revoke ${id}\``, {
        cause,
      });
    });
    const oldKey = issued.replaced && `; key ${issued.replaced.id} (…${issued.replaced.ending}) is unchanged`;
    throw new Error(`${failure}, so it was revoked${oldKey ?? ''}`, { cause: error });
  }
}

/** All items, read one part at a time. */
export async function* inParts<Item, Id>(
  read: (part: { readonly after: Id | undefined; readonly limit: number }) => Promise<readonly Item[]>,
  idOf: (item: Item) => Id,
): AsyncGenerator<readonly Item[]> {
  for (let after: Id | undefined; ;) {
    const items = await read({ after, limit: PART });
    const last = items.at(-1);
    if (last === undefined) return;
    yield items;
    after = idOf(last);
  }
}

/** Prints a table. Each column is as wide as its longest cell so far. */
export async function* table<Item>(
  heads: readonly string[],
  parts: AsyncIterable<readonly Item[]>,
  rowOf: (item: Item) => readonly string[],
): AsyncGenerator<string> {
  let widths = heads.map(() => 0);
  let unprinted = [heads];
  for await (const items of parts) {
    unprinted.push(...items.map((item) => rowOf(item).map(inOneLine)));
    widths = widths.map((width, column) => Math.max(width, ...unprinted.map((row) => row[column]?.length ?? 0)));
    yield linesOf(unprinted, widths);
    unprinted = [];
  }
  yield linesOf(unprinted, widths);
}

function linesOf(rows: readonly (readonly string[])[], widths: readonly number[]): string {
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

function write(stdout: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Whether the output is the null device. Node.js opens it in place of a closed output. */
function goesNowhere({ fd }: Streams['stdout']): boolean {
  if (fd === undefined) return false;
  const output = fstatSync(fd);
  return output.isCharacterDevice() && output.rdev === statSync(devNull).rdev;
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return types.isNativeError(error) && 'syscall' in error;
}

export function counted(count: number, what: string): string {
  return `${grouped(count)} ${count === 1 ? what : `${what}s`}`;
}

/** For example `1,000,000`. */
export function grouped(count: number): string {
  return count.toLocaleString('en');
}

export function codeOf(error: unknown): string {
  if (isSystemError(error)) return error.code ?? error.message;
  return reasonOf(error);
}
