import { isUtf8 } from 'node:buffer';

/** Bytes of the longest record, so that no file can use up the memory. */
export const MAX_RECORD = 2 ** 20;
/** Bytes that are read at a time. With Node's 64 KiB a million animals took 10 MB more. */
const PIECE = 2 ** 14;
export const TOO_LONG = `is longer than ${MAX_RECORD} bytes`;

const LINE_FEED = 0x0a;
// A character is one byte below 0x80, or a first byte from 0xC0 on and up to three others.
const CONTINUATION = 0x80;
const FIRST_OF_SEVERAL = 0xc0;
const LONGEST_CHARACTER = 4;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** The file can't be read on from this line. */
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
}

/**
 * The file in pieces of whole lines, without a byte order mark.
 *
 * @throws UnreadableError
 */
export async function* wholeLines(input: AsyncIterable<Buffer>): AsyncGenerator<Lines> {
  let line = 1;
  let rest = Buffer.alloc(0);
  for await (const chunk of withoutMark(input)) {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end === 0) {
      rest = Buffer.concat([rest, chunk]);
    } else {
      const bytes = Buffer.concat([rest, chunk.subarray(0, end)]);
      yield* checked({ line, bytes });
      line += linesIn(bytes);
      rest = Buffer.from(chunk.subarray(end));
    }
    if (rest.length > MAX_RECORD) throw new UnreadableError(line, TOO_LONG);
  }
  if (rest.length > 0) yield* checked({ line, bytes: rest });
}

/**
 * The file in pieces of whole characters, without a byte order mark.
 *
 * @throws UnreadableError
 */
export async function* wholeCharacters(input: AsyncIterable<Buffer>): AsyncGenerator<Lines> {
  let line = 1;
  let rest = Buffer.alloc(0);
  for await (const chunk of withoutMark(input)) {
    const all = Buffer.concat([rest, chunk]);
    const end = endOfWhole(all);
    const bytes = all.subarray(0, end);
    yield* checked({ line, bytes });
    line += linesIn(bytes);
    rest = Buffer.from(all.subarray(end));
  }
  if (rest.length > 0) yield* checked({ line, bytes: rest });
}

/** The end of the bytes without the last character, if that may be incomplete. */
function endOfWhole(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - LONGEST_CHARACTER); at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= FIRST_OF_SEVERAL) return at;
    if (byte < CONTINUATION) break;
  }
  return bytes.length;
}

async function* inPieces(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of input) {
    for (let from = 0; from < chunk.length; from += PIECE) yield chunk.subarray(from, from + PIECE);
  }
}

async function* withoutMark(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begin = Buffer.alloc(0);
  let isBegun = false;
  for await (const chunk of inPieces(input)) {
    if (isBegun) {
      yield chunk;
      continue;
    }
    begin = Buffer.concat([begin, chunk]);
    isBegun = begin.length >= BYTE_ORDER_MARK.length;
    if (isBegun) yield begin.subarray(0, 3).equals(BYTE_ORDER_MARK) ? begin.subarray(3) : begin;
  }
  if (!isBegun) yield begin;
}

/** The lines, up to the first that is not UTF-8. */
function* checked({ line, bytes }: Lines): Generator<Lines> {
  if (isUtf8(bytes)) {
    yield { line, bytes };
    return;
  }
  let begin = 0;
  // No character has the byte of a line feed within it.
  for (let current = line; ; current += 1) {
    const end = bytes.indexOf(LINE_FEED, begin) + 1 || bytes.length;
    if (!isUtf8(bytes.subarray(begin, end))) {
      if (begin > 0) yield { line, bytes: bytes.subarray(0, begin) };
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
