import { CsvError, parse } from 'csv-parse';
import { type LineEnd, type Lines, linesIn, MAX_RECORD, TOO_LONG } from './lines.js';
import { quoted, UnreadableError } from './refusals.js';

/** Line ends that always end a row, those of RFC 4180 and of Unix, besides the file's own. */
const LINE_ENDS = ['\r\n', '\n'];

/** A quoted cell that isn't closed in its line. */
const OPEN_CELL = /(?:^|[,;\t])"((?:[^"]|"")*)$/;

/** A JSON text. A CSV's header never begins so. */
const BEGIN_OF_JSON = /^\s*[[{]\s*(?:["[\]{}]|$)/;
const IS_JSON =
  'is JSON, not CSV: name its format by --format json (an array of animals), ndjson (an animal a line) or petfinder';

const REASONS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quote that is never closed',
  CSV_INVALID_CLOSING_QUOTE: 'has text behind a closing quote',
  INVALID_OPENING_QUOTE: 'has a quote in a field that does not begin with one',
  CSV_MAX_RECORD_SIZE: `${TOO_LONG}: perhaps a quote is never closed`,
};

export interface CsvRecord {
  /** The line on which it begins. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface CsvRecords {
  readonly separator: string;
  /** Whether a spreadsheet has written it: it has something that an export of this store never has. */
  readonly isFromSpreadsheet: boolean;
  readonly records: readonly CsvRecord[];
  /** The last record, if the file ends without a line end after it. */
  readonly cutOff: CsvRecord | undefined;
}

/**
 * The records of a CSV, without those that are blank.
 *
 * @throws UnreadableError after the records before the line that it names.
 */
export async function* recordsOf(pieces: AsyncGenerator<Lines, void>): AsyncGenerator<CsvRecords> {
  const first = await pieces.next();
  if (first.done === true) return;
  const start: Lines = first.value;
  const { lineEnd } = start;
  if (BEGIN_OF_JSON.test(start.bytes.toString('utf8'))) throw new UnreadableError(start.line, IS_JSON);
  const { separator, length } = separatorIn(start);
  const isFromSpreadsheet = start.isForeign || separator !== ',' || length > 0 || lineEnd === '\r';
  const parseNext = recordParser(separator, lineEnd, length > 0 ? 2 : 1);
  let last = start;
  let failure: Error | undefined;
  async function* toTheEnd(): AsyncGenerator<Lines | undefined> {
    try {
      yield { ...start, bytes: start.bytes.subarray(length) };
      yield* pieces;
    } catch (error) {
      failure = error as Error;
    }
    yield undefined;
  }
  for await (const piece of toTheEnd()) {
    const { records, error } = await parseNext(piece?.bytes);
    const isCutOff = piece === undefined && !endsInLineEnd(last);
    const cutOff = isCutOff ? records.at(-1) : undefined;
    yield { separator, isFromSpreadsheet, records: records.filter(isNotBlank), cutOff };
    last = piece ?? last;
    failure ??= error;
    if (failure !== undefined) throw failure;
  }
}

interface Parsed {
  readonly records: readonly CsvRecord[];
  /** Why no further records can be parsed. */
  readonly error: Error | undefined;
}

/**
 * Returns a function that parses the next bytes of a file. Called with undefined at the end of the file, it returns the
 * last record, which may be incomplete before.
 */
function recordParser(
  separator: string,
  lineEnd: LineEnd,
  firstLine: number,
): (bytes: Buffer | undefined) => Promise<Parsed> {
  let line = firstLine;
  let records: CsvRecord[] = [];
  const parser = parse({
    delimiter: separator,
    record_delimiter: [...LINE_ENDS, lineEnd],
    relax_column_count: true,
    max_record_size: MAX_RECORD,
    // Collects the records here, because after an error the parser would drop those in its queue.
    on_record: (cells: string[]) => {
      records.push({ line, cells });
      line += 1 + cells.reduce((sum, cell) => sum + linesIn(cell, lineEnd), 0);
      return null;
    },
  });
  parser.on('error', () => undefined);
  parser.resume();
  return async (bytes) => {
    records = [];
    const error = await new Promise<Error | null | undefined>((resolve) => {
      if (bytes === undefined) parser.end(resolve);
      else parser.write(bytes, resolve);
    });
    return { records, error: error instanceof CsvError ? unreadable(line, error) : (error ?? undefined) };
  };
}

function endsInLineEnd({ bytes, lineEnd }: Lines): boolean {
  return ['\n', lineEnd].includes(bytes.toString('latin1', bytes.length - 1));
}

function isNotBlank({ cells }: CsvRecord): boolean {
  return cells.some((cell) => cell !== '');
}

/** The separator that a first line such as `sep=;` names, with its length. Else the most frequent one in the header. */
function separatorIn({ line, bytes, lineEnd }: Lines): { readonly separator: string; readonly length: number } {
  const end = bytes.indexOf(lineEnd) + 1 || bytes.length;
  const text = bytes.toString('utf8', 0, end);
  const named = /^"?sep=([,;\t])"?[\r\n]*$/i.exec(text)?.[1];
  if (named !== undefined) return { separator: named, length: end };
  const [, open] = OPEN_CELL.exec(text) ?? [];
  if (open !== undefined) throw brokenName(line, open.replaceAll('""', '"'));
  const bare = text.replaceAll(/"[^"]*"/g, '');
  const [separator = ','] = [',', ';', '\t'].sort((one, other) => bare.split(other).length - bare.split(one).length);
  return { separator, length: 0 };
}

function unreadable(line: number, { code, message }: CsvError): UnreadableError {
  return new UnreadableError(line, REASONS[code] ?? message);
}

export function brokenName(line: number, name: string): UnreadableError {
  const [begin = ''] = name.split(/[\r\n]/);
  return new UnreadableError(line, `has a line end in the name of the column that begins with ${quoted(begin)}`);
}
