import { isUtf8 } from 'node:buffer';
import { utf8Of } from './encodings.js';
import { UnreadableError } from './refusals.js';

/** Bytes of the longest record, so that no file can use up the memory. */
export const MAX_RECORD = 2 ** 20;
export const TOO_LONG = `is longer than ${MAX_RECORD} bytes`;

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** On old Macs a carriage return ends a line. In other files a line feed does, perhaps after a carriage return. */
export type LineEnd = '\n' | '\r';

export interface Lines {
  /** The number of the first line, counted from 1. */
  readonly line: number;
  readonly bytes: Buffer;
  /** Whether the file has a byte order mark or another encoding than UTF-8, as no plain export of this store has. */
  readonly isForeign: boolean;
  readonly lineEnd: LineEnd;
}

/**
 * Splits the file, without its byte order mark, into pieces of UTF-8 that end with a line or a quote, or with the file.
 *
 * @param encoding of the file, if it is named.
 * @throws UnreadableError
 */
export async function* piecesOf(
  input: AsyncIterable<Buffer>,
  end: 'line' | '"',
  encoding?: string,
): AsyncGenerator<Lines, void> {
  let line = 1;
  let rest = Buffer.alloc(0);
  let isStart = true;
  let isForeign = encoding !== undefined && encoding !== 'utf-8';
  let lineEnd: LineEnd | undefined;
  function* upTo(length: number): Generator<Lines> {
    let bytes = rest.subarray(0, length);
    rest = rest.subarray(length);
    if (isStart && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) {
      bytes = bytes.subarray(BYTE_ORDER_MARK.length);
      isForeign = true;
    }
    isStart = false;
    // No line has ended yet, so it doesn't matter which line end is given here.
    yield* checked({ line, bytes, isForeign, lineEnd: lineEnd ?? '\n' });
    line += linesIn(bytes, lineEnd);
  }
  for await (const chunk of utf8Of(input, encoding, () => line + linesIn(rest, lineEnd))) {
    rest = Buffer.concat([rest, chunk]);
    lineEnd ??= firstLineEnd(rest);
    const length = rest.lastIndexOf(end === 'line' ? (lineEnd ?? '\n') : end) + 1;
    if (length > 0) yield* upTo(length);
    if (rest.length > MAX_RECORD) throw new UnreadableError(line, TOO_LONG);
  }
  // The file ends with a carriage return, so no line feed follows it.
  if (rest.includes('\r')) lineEnd ??= '\r';
  if (rest.length > 0) yield* upTo(rest.length);
}

/** Undefined if the text has none, or if the next piece may begin with the line feed of its last carriage return. */
function firstLineEnd(text: Buffer): LineEnd | undefined {
  const [end] = /\r?\n|\r(?=[^])/.exec(text.toString('latin1')) ?? [];
  if (end === undefined) return undefined;
  return end === '\r' ? '\r' : '\n';
}

/** The lines, up to the first that is not UTF-8. */
function* checked(lines: Lines): Generator<Lines> {
  const { line, bytes, lineEnd } = lines;
  if (isUtf8(bytes)) {
    yield lines;
    return;
  }
  let begin = 0;
  // In UTF-8 the byte of a line end is never part of another character.
  for (let current = line; ; current += 1) {
    const end = bytes.indexOf(lineEnd, begin) + 1 || bytes.length;
    if (!isUtf8(bytes.subarray(begin, end))) {
      if (begin > 0) yield { ...lines, bytes: bytes.subarray(0, begin) };
      throw new UnreadableError(current, notUtf8(lineEnd));
    }
    begin = end;
  }
}

function notUtf8(lineEnd: LineEnd): string {
  const probably = lineEnd === '\r' ? 'macintosh' : 'windows-1252';
  return `is not valid UTF-8: save it as "CSV UTF-8", or name its encoding, probably by --encoding ${probably}`;
}

export function linesIn(text: Buffer | string, lineEnd: LineEnd = '\n'): number {
  let count = 0;
  for (let at = text.indexOf(lineEnd); at !== -1; at = text.indexOf(lineEnd, at + 1)) count += 1;
  return count;
}
