import { fstatSync, readSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { types } from 'node:util';
import {
  type Account,
  type Application,
  escapeInvisible,
  escapeInvisibleInJson,
  type Instant,
  isoTime,
  isProven,
  type IssuedKey,
  type JsonFields,
  jsonText,
  reasonOf,
} from '@adoption-store/domain';

/** Rows that are read and printed at a time, so that the memory use doesn't grow with the list. */
const PART = 1_000;
/** Columns of a terminal that doesn't tell its width. */
const USUAL_WIDTH = 80;
/** A terminal gets cells of this length whole: ids and times. */
const SHORT_CELL = 28;
const GAP = '  ';
/** What a terminal erases the rest of a line for (ECMA-48 EL). */
const ERASE_REST = '\u001b[K';

/** The output of a command: what it has done, in one text or several, a listing, or a key that is shown once. */
export type Output = string | AsyncIterable<string> | Listing | IssuedKey;

export interface Listing {
  /** @param width of the terminal, where long cells are cut; undefined if it isn't one. */
  readonly texts: (width: number | undefined) => AsyncIterable<string>;
  /** Whether it is the content of a file, which only a terminal gets escaped. */
  readonly isContent: boolean;
}

/** How a list prints each item: as a row of a table, and as JSON, which has the API's field names. */
export interface Columns<Item> {
  readonly heads: readonly string[];
  readonly rowOf: (item: Item) => readonly string[];
  readonly jsonOf: (item: Item) => JsonFields;
}

export class OutputError extends Error {}

export interface Streams {
  readonly stdin: Readable;
  /** With a file descriptor, if it is the process's. */
  readonly stdout: Writable & { readonly fd?: number; readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** `write` reports a failed write to its callback. Without a listener, the stream's 'error' would end the process. */
export function surviveFailedWrites({ stdout, stderr }: Pick<Streams, 'stdout' | 'stderr'>): void {
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined);
}

/**
 * A text of several lines that is safe to print, whoever has written it: a terminal executes control characters, and
 * other invisible ones make a text look like another. All commands use this for their output.
 */
export function printable(text: string): string {
  return text.split('\n').map(escapeInvisible).join('\n');
}

/** @throws OutputError with one sentence if the output can't be written. */
export async function show(
  output: Output,
  { rollBackKey }: Pick<Application, 'rollBackKey'>,
  streams: Streams,
): Promise<void> {
  if (typeof output === 'string') await report([output], streams);
  else if ('key' in output) await getKey(output, rollBackKey, streams.stdout);
  else if ('texts' in output) await list(output, streams.stdout);
  else await report(output, streams);
}

/**
 * Prints what was done, or else says it on standard error: it isn't undone, and what is left to do is still done. A
 * closed output is no failure, because a program that discards it by Node.js' `ignore` or Python's `DEVNULL` looks like that.
 */
async function report(texts: AsyncIterable<string> | Iterable<string>, { stdout, stderr }: Streams): Promise<void> {
  let failure: OutputError | undefined;
  const isUnseen = isClosed(stdout);
  try {
    for await (const text of texts) {
      if (!isUnseen) failure ??= await failureToPrint(printable(text), stdout, 'what it lacks is above');
      if (isUnseen || failure !== undefined) stderr.write(printable(text));
    }
  } catch (error) {
    if (failure !== undefined) stderr.write(`${failure.message}\n`);
    throw error;
  }
  if (failure !== undefined) throw failure;
}

async function list({ texts, isContent }: Listing, stdout: Streams['stdout']): Promise<void> {
  const isTerminal = stdout.isTTY === true;
  const isExact = isContent && !isTerminal;
  for await (const text of texts(isTerminal ? (stdout.columns ?? USUAL_WIDTH) : undefined)) {
    const failure = await failureToPrint(isExact ? text : printable(text), stdout, 'it is incomplete');
    if (failure !== undefined) throw failure;
  }
}

/** @param consequence what the error says after its cause. */
export async function failureToPrint(
  text: string,
  stdout: Streams['stdout'],
  consequence: string,
): Promise<OutputError | undefined> {
  try {
    if (isClosed(stdout)) throw new Error('it is closed');
    await write(stdout, text);
    return undefined;
  } catch (cause) {
    return new OutputError(`the output could not be written (${codeOf(cause)}): ${consequence}`, { cause });
  }
}

async function getKey(
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
      throw new OutputError(`${failure}, and could not be revoked (${codeOf(cause)}): run \`keys revoke ${id}\``, {
        cause,
      });
    });
    const oldKey = issued.replaced && `; key ${issued.replaced.id} (…${issued.replaced.ending}) is unchanged`;
    throw new OutputError(`${failure}, so it was revoked${oldKey ?? ''}`, { cause: error });
  }
}

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

/** A table, or with --json an object a line. */
export function listing<Item>(isJson: boolean, parts: AsyncIterable<readonly Item[]>, columns: Columns<Item>): Listing {
  return {
    texts: (width) => (isJson ? jsonParts(parts, columns) : tableParts(parts, columns, width)),
    isContent: false,
  };
}

/** The account of a line of JSON. All scopes are left out, as those that are added later belong to them. */
export function accountJson(account: Account): JsonFields {
  return {
    id: account.id,
    email: account.email,
    proven: isProven(account),
    plan: account.plan.name,
    perMinute: account.plan.perMinute,
    perDay: account.plan.perDay,
    scopes: account.scopes,
    createdAt: isoTime(account.createdAt),
  };
}

async function* jsonParts<Item>(
  parts: AsyncIterable<readonly Item[]>,
  { jsonOf }: Columns<Item>,
): AsyncGenerator<string> {
  for await (const items of parts)
    yield items.map((item) => `${escapeInvisibleInJson(jsonText(jsonOf(item)))}\n`).join('');
}

/** Each column is as wide as its longest cell so far. */
async function* tableParts<Item>(
  parts: AsyncIterable<readonly Item[]>,
  { heads, rowOf }: Columns<Item>,
  width: number | undefined,
): AsyncGenerator<string> {
  let widths = heads.map(() => 0);
  let unprinted = [heads];
  for await (const items of parts) {
    unprinted.push(...items.map((item) => rowOf(item).map(escapeInvisible)));
    widths = widths.map((each, column) => Math.max(each, ...unprinted.map((row) => row[column]?.length ?? 0)));
    yield linesOf(unprinted, widths, width);
    unprinted = [];
  }
  yield linesOf(unprinted, widths, width);
}

function linesOf(rows: readonly (readonly string[])[], widths: readonly number[], width = Infinity): string {
  const longest = longestCell(widths, width);
  const lines = rows.map((row) =>
    row.map((cell, column) => cut(cell, longest).padEnd(Math.min(widths[column] ?? 0, longest))).join(GAP),
  );
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

/** The most that a cell can have so that a row fits into the width, but not less than a short cell. */
function longestCell(widths: readonly number[], width: number): number {
  let longest = Math.max(SHORT_CELL, ...widths);
  const used = () => widths.reduce((sum, each) => sum + Math.min(each, longest), 0) + GAP.length * (widths.length - 1);
  while (longest > SHORT_CELL && used() > width) longest -= 1;
  return longest;
}

/** No half of a surrogate pair remains. */
function cut(cell: string, longest: number): string {
  return cell.length > longest ? `${cell.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…` : cell;
}

/** Tells a terminal each second how far the work is, and takes the line away at its end. */
export async function withProgress<Result>(
  stderr: Streams['stderr'],
  describe: () => string,
  work: () => Promise<Result>,
): Promise<Result> {
  if (stderr.isTTY !== true) return work();
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    stderr.write(`\r${seconds} s: ${describe()}${ERASE_REST}`);
  }, 1_000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (seconds > 0) stderr.write(`\r${ERASE_REST}`);
  }
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

/** Whether Node.js opened the null device. It does so for reading, too; a shell's `>/dev/null` can only be written. */
function isClosed(stdout: Streams['stdout']): boolean {
  if (stdout.fd === undefined || !goesNowhere(stdout)) return false;
  try {
    return readSync(stdout.fd, Buffer.alloc(1)) === 0;
  } catch {
    return false;
  }
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

export function timeOr(otherwise: string, time: Instant | undefined): string {
  return time === undefined ? otherwise : isoTime(time);
}

export function codeOf(error: unknown): string {
  if (isSystemError(error)) return error.code ?? error.message;
  return reasonOf(error);
}
