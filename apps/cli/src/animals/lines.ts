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

export interface Lines {
  /** The number of the first one, counted from 1. */
  readonly line: number;
  readonly bytes: Buffer;
  /** Whether the file begins with a byte order mark. */
  readonly hasMark: boolean;
}

/**
 * Splits the file into pieces of UTF-8 that end with this character; the last one ends with the file. A byte order mark is
 * left out.
 *
 * @throws UnreadableError
 */
export async function* piecesOf(input: AsyncIterable<Buffer>, end: '\n' | '"'): AsyncGenerator<Lines, void> {
  let line = 1;
  let rest = Buffer.alloc(0);
  let mark: boolean | undefined;
  function* upTo(length: number): Generator<Lines> {
    const isFirst = mark === undefined;
    const hasMark = (mark ??= rest.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK));
    const bytes = rest.subarray(isFirst && hasMark ? BYTE_ORDER_MARK.length : 0, length);
    rest = rest.subarray(length);
    yield* checked({ line, bytes, hasMark });
    line += linesIn(bytes);
  }
  for await (const chunk of utf8Of(input)) {
    rest = Buffer.concat([rest, chunk]);
    const length = rest.lastIndexOf(end) + 1;
    if (length > 0) yield* upTo(length);
    if (rest.length > MAX_RECORD) throw new UnreadableError(line, TOO_LONG);
  }
  if (rest.length > 0) yield* upTo(rest.length);
}

/** UTF-16 has a byte order mark, and becomes UTF-8. Any other file is left as it is. */
async function* utf8Of(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  let line = 1;
  function decoded(bytes?: Buffer): Buffer {
    try {
      const text = Buffer.from(decoder?.decode(bytes, { stream: bytes !== undefined }) ?? '');
      line += linesIn(text);
      return text;
    } catch {
      throw new UnreadableError(line, 'is not valid UTF-16');
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
function* checked({ line, bytes, hasMark }: Lines): Generator<Lines> {
  if (isUtf8(bytes)) {
    yield { line, bytes, hasMark };
    return;
  }
  let begin = 0;
  // In UTF-8 the byte of a line feed is never part of another character.
  for (let current = line; ; current += 1) {
    const end = bytes.indexOf('\n', begin) + 1 || bytes.length;
    if (!isUtf8(bytes.subarray(begin, end))) {
      if (begin > 0) yield { line, bytes: bytes.subarray(0, begin), hasMark };
      throw new UnreadableError(current, 'is not valid UTF-8');
    }
    begin = end;
  }
}

export function linesIn(text: Buffer | string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
