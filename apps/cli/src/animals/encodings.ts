import { TextDecoder } from 'node:util';
import { UnreadableError } from './refusals.js';

const BYTE_ORDER_MARKS: readonly (readonly [encoding: string, mark: Buffer])[] = [
  ['utf-8', Buffer.of(0xef, 0xbb, 0xbf)],
  ['utf-16le', Buffer.of(0xff, 0xfe)],
  ['utf-16be', Buffer.of(0xfe, 0xff)],
];

/** The beginning of an .xlsx or .ods, which are ZIP files, and of an .xls. */
const WORKBOOKS = [Buffer.of(0x50, 0x4b, 0x03, 0x04), Buffer.of(0xd0, 0xcf, 0x11, 0xe0)];

/** The most bytes that are needed to recognise the kind of a file. */
const LONGEST_BEGINNING = 4;

const NOTHING = Buffer.alloc(0);

/** The standard name of an encoding; undefined if Node.js doesn't know it. */
export function encodingNamed(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/**
 * The text of a file as UTF-8. Its encoding is `named`, that of its byte order mark, or UTF-8, which isn't validated.
 *
 * @param line returns the number of the next line, for errors.
 * @throws UnreadableError
 */
export async function* utf8Of(
  input: AsyncIterable<Buffer>,
  named: string | undefined,
  line: () => number,
): AsyncGenerator<Buffer> {
  let beginning: Buffer = NOTHING;
  let decode: Decode | undefined;
  for await (const chunk of input) {
    if (decode === undefined) {
      beginning = Buffer.concat([beginning, chunk]);
      if (beginning.length < LONGEST_BEGINNING) continue;
      decode = decoderOf(encodingOf(beginning, named), line);
      yield decode(beginning);
    } else {
      yield decode(chunk);
    }
  }
  if (decode === undefined) {
    decode = decoderOf(encodingOf(beginning, named), line);
    yield decode(beginning);
  }
  yield decode();
}

/** Decodes a part of the text. Called without one at the end, it returns the rest. */
type Decode = (bytes?: Buffer) => Buffer;

function decoderOf(encoding: string, line: () => number): Decode {
  if (encoding === 'utf-8') return (bytes = NOTHING) => bytes;
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return (bytes) => {
    try {
      return Buffer.from(decoder.decode(bytes, { stream: bytes !== undefined }));
    } catch {
      throw new UnreadableError(line(), `is not valid ${encoding}`);
    }
  };
}

function encodingOf(beginning: Buffer, named: string | undefined): string {
  const beginsWith = (bytes: Buffer) => beginning.subarray(0, bytes.length).equals(bytes);
  if (WORKBOOKS.some(beginsWith)) throw new UnreadableError(1, 'is a spreadsheet, not text: save it as "CSV UTF-8"');
  const [marked] = BYTE_ORDER_MARKS.find(([, mark]) => beginsWith(mark)) ?? [];
  if (named !== undefined && marked !== undefined && named !== marked)
    throw new UnreadableError(1, `begins with the byte order mark of ${marked}: leave out --encoding`);
  const encoding = named ?? marked;
  if (encoding !== undefined) return encoding;
  // CSV headers and JSON begin with an ASCII character. One of its two bytes in UTF-16 is zero.
  if (beginning[0] === 0) throw withoutMark('utf-16be');
  if (beginning[1] === 0) throw withoutMark('utf-16le');
  return 'utf-8';
}

function withoutMark(encoding: string): UnreadableError {
  return new UnreadableError(1, `is UTF-16 without a byte order mark: name it by --encoding ${encoding}`);
}
