import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/** Bytes of the longest record, so that no file can use up the memory. */
export const MAX_RECORD = 2 ** 20;
export const TOO_LONG = `is longer than ${MAX_RECORD} bytes`;

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** The file can't be read from this line on. */
export class UnreadableError extends Error {
  constructor(
    readonly line: number,
    reason: string,
  ) {
    super(reason);
  }
}

/** A carriage return ends the lines of old Macs. Elsewhere it may stand before a line feed, which ends the line. */
export type LineEnd = '\n' | '\r';

export interface Lines {
  /** The number of the first one, counted from 1. */
  readonly line: number;
  readonly bytes: Buffer;
  /** Whether the file begins with a byte order mark. */
  readonly hasMark: boolean;
  readonly lineEnd: LineEnd;
}

/**
 * Splits the file into pieces of UTF-8 that end with a line or a quote; the last one ends with the file. A byte order mark
 * is left out.
 *
 * @throws UnreadableError
 */
export async function* piecesOf(input: AsyncIterable<Buffer>, end: 'line' | '"'): AsyncGenerator<Lines, void> {
  let line = 1;
  let rest = Buffer.alloc(0);
  let mark: boolean | undefined;
  let lineEnd: LineEnd | undefined;
  function* upTo(length: number): Generator<Lines> {
    const isFirst = mark === undefined;
    const hasMark = (mark ??= rest.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK));
    const bytes = rest.subarray(isFirst && hasMark ? BYTE_ORDER_MARK.length : 0, length);
    rest = rest.subarray(length);
    // Until the first line end is known, there is none.
    yield* checked({ line, bytes, hasMark, lineEnd: lineEnd ?? '\n' });
    line += linesIn(bytes, lineEnd);
  }
  for await (const chunk of utf8Of(input, () => line + linesIn(rest, lineEnd))) {
    rest = Buffer.concat([rest, chunk]);
    lineEnd ??= firstLineEnd(rest);
    const length = rest.lastIndexOf(end === 'line' ? (lineEnd ?? '\n') : end) + 1;
    if (length > 0) yield* upTo(length);
    if (rest.length > MAX_RECORD) throw new UnreadableError(line, TOO_LONG);
  }
  // A carriage return with which the file ends.
  if (rest.includes('\r')) lineEnd ??= '\r';
  if (rest.length > 0) yield* upTo(rest.length);
}

/** Undefined if the text has none, or if the next piece may begin with the line feed of its last carriage return. */
function firstLineEnd(text: Buffer): LineEnd | undefined {
  const [end] = /\r?\n|\r(?=[^])/.exec(text.toString('latin1')) ?? [];
  if (end === undefined) return undefined;
  return end === '\r' ? '\r' : '\n';
}

/**
 * UTF-16 has a byte order mark, and becomes UTF-8. Any other file is left as it is.
 *
 * @param line the line that comes next.
 */
async function* utf8Of(input: AsyncIterable<Buffer>, line: () => number): AsyncGenerator<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  function decoded(bytes?: Buffer): Buffer {
    try {
      return Buffer.from(decoder?.decode(bytes, { stream: bytes !== undefined }) ?? '');
    } catch {
      throw new UnreadableError(line(), 'is not valid UTF-16');
    }
  }
  for await (const chunk of input) {
    const isStart = start.length < 2;
    const bytes = isStart ? Buffer.concat([start, chunk]) : chunk;
    if (isStart) {
      start = bytes;
      if (start.length < 2) continue;
      const mark = start.readUInt16BE();
      if (mark === 0xfffe || mark === 0xfeff)
        decoder = new TextDecoder(mark === 0xfeff ? 'utf-16be' : 'utf-16le', {
          fatal: true,
          ignoreBOM: true,
        });
    }
    yield decoder === undefined ? bytes : decoded(bytes);
  }
  if (decoder !== undefined) yield decoded();
  else if (start.length < 2) yield start;
}

/** The lines, up to the first that is not UTF-8. */
function* checked({ line, bytes, hasMark, lineEnd }: Lines): Generator<Lines> {
  if (isUtf8(bytes)) {
    yield { line, bytes, hasMark, lineEnd };
    return;
  }
  let begin = 0;
  // In UTF-8 the byte of a line end is never part of another character.
  for (let current = line; ; current += 1) {
    const end = bytes.indexOf(lineEnd, begin) + 1 || bytes.length;
    if (!isUtf8(bytes.subarray(begin, end))) {
      if (begin > 0) yield { line, bytes: bytes.subarray(0, begin), hasMark, lineEnd };
      throw new UnreadableError(current, 'is not valid UTF-8');
    }
    begin = end;
  }
}

export function linesIn(text: Buffer | string, lineEnd: LineEnd = '\n'): number {
  let count = 0;
  for (let at = text.indexOf(lineEnd); at !== -1; at = text.indexOf(lineEnd, at + 1)) count += 1;
  return count;
}
