import type { Animal, ImportRow } from '@adoption-store/domain';
import { CsvError, parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import { animalFrom, FIELD_NAMES, type Omissions, type ReadRows, rowOf } from './file-format.js';
import { armed, disarmed } from './formulas.js';
import { type Lines, linesIn, MAX_RECORD, piecesOf, TOO_LONG, UnreadableError } from './lines.js';

const INTEGER = /^(0|-?[1-9]\d{0,18})$/;

/** What ends a row besides the line end of the file: the line ends of RFC 4180 and of Unix. */
const LINE_ENDS = ['\r\n', '\n'];

/** A quoted cell that isn't closed in its line. */
const OPEN_CELL = /(?:^|[,;\t])"((?:[^"]|"")*)$/;

/** A header has no bracket or brace there. */
const BEGIN_OF_JSON = /^\s*[[{]\s*(?:["[\]{}]|$)/;
const IS_JSON =
  'is JSON, not CSV: name its format by --format ndjson (an animal of this store a line) or --format petfinder';

const REASONS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quote that is never closed',
  CSV_INVALID_CLOSING_QUOTE: 'has text behind a closing quote',
  INVALID_OPENING_QUOTE: 'has a quote in a field that does not begin with one',
  CSV_MAX_RECORD_SIZE: `${TOO_LONG}: perhaps a quote is never closed`,
};

/** Cells by column. A column that the file lacks is empty. */
export type Cells = (column: string) => string;

interface CsvShape {
  readonly required: readonly string[];
  /** Columns that are read. A value in another column is counted as an omission. */
  readonly known: readonly string[];
  /** Whether a cell has no value. */
  readonly isEmpty: (cell: string) => boolean;
  /** What a cell means in a file that a spreadsheet has written, if it isn't its text. */
  readonly fromSpreadsheet?: (cell: string) => string;
  /** The row of a record; undefined if the record isn't an animal. */
  readonly rowOf: (cells: Cells, line: number) => ImportRow | undefined;
}

/** Reads an export of this store. */
export const readCsv: ReadRows = (input, { omissions }) =>
  csvRows(input, omissions, {
    required: ['name', 'categoryId'],
    known: FIELD_NAMES,
    isEmpty: (cell) => cell.trim() === '',
    fromSpreadsheet: armed,
    rowOf: (cells, line) =>
      rowOf(line, () =>
        animalFrom((name, { type, isOptional }) => {
          // A name is stored as it was written.
          const cell = name === 'name' ? cells(name) : keyOf(cells(name));
          if (cell === '' && isOptional) return undefined;
          return type === 'bigint' && INTEGER.test(cell) ? BigInt(cell) : cell;
        }),
      ),
  });

/** Reads the rows of a CSV with a header. */
export async function* csvRows(
  input: AsyncIterable<Buffer>,
  omissions: Omissions,
  { required, known, isEmpty, fromSpreadsheet = (cell) => cell, rowOf: read }: CsvShape,
): AsyncGenerator<readonly ImportRow[]> {
  let header: readonly string[] | undefined;
  let others: readonly (readonly [name: string, place: number])[] = [];
  const places = new Map<string, number>();
  for await (const { separator, isFromSpreadsheet, records, cutOff } of recordsOf(piecesOf(input, 'line'))) {
    yield records.flatMap((record) => {
      const { line, cells } = record;
      if (header === undefined) {
        header = cells;
        for (const [place, name] of cells.entries()) {
          if (/[\r\n]/.test(name)) throw brokenName(line, name);
          const key = keyOf(name);
          if (key !== '' && places.has(key))
            throw new UnreadableError(line, `has the column ${JSON.stringify(name)} twice`);
          places.set(key, place);
        }
        const missing = required.find((name) => !places.has(keyOf(name)));
        if (missing !== undefined) {
          const found = `the separator found is ${JSON.stringify(separator)}`;
          throw new UnreadableError(line, `lacks the column ${JSON.stringify(missing)} (${found})`);
        }
        const knownKeys = known.map(keyOf);
        others = [...cells.entries()]
          .filter(([, name]) => !knownKeys.includes(keyOf(name)))
          .map(([place, name]) => [name.trim() === '' ? 'columns without a name' : name, place]);
        return [];
      }
      // Excel pads rows with empty cells, and leaves them out elsewhere. A file that ends in a row may have lost its rest.
      const isShort = cells.length < header.length;
      const sizes = `has ${cells.length} fields, and the header ${header.length}`;
      if ((isShort && record === cutOff) || cells.slice(header.length).some((cell) => cell !== ''))
        return { line, refusal: sizes };
      for (const [name, place] of others) if (!isEmpty(cells[place] ?? '')) omissions.add(name);
      const cellOf = (column: string) => cells[places.get(keyOf(column)) ?? -1] ?? '';
      const row = read(isFromSpreadsheet ? (column) => fromSpreadsheet(cellOf(column)) : cellOf, line);
      if (row === undefined) return [];
      return isShort && 'refusal' in row ? { line, refusal: `${row.refusal} (the row ${sizes})` } : row;
    });
  }
  if (header === undefined) throw new UnreadableError(1, 'should have the names of the columns');
}

/** Columns, and cells but names, are compared without regard to case and outer spaces. */
function keyOf(text: string): string {
  return text.trim().toLowerCase();
}

function brokenName(line: number, name: string): UnreadableError {
  const [begin = ''] = name.split(/[\r\n]/);
  return new UnreadableError(
    line,
    `has a line end in the name of the column that begins with ${JSON.stringify(begin)}`,
  );
}

interface CsvRecord {
  /** The line on which it begins. */
  readonly line: number;
  readonly cells: readonly string[];
}

interface CsvRecords {
  readonly separator: string;
  /** Whether it has what a spreadsheet writes, and no other export of this store. */
  readonly isFromSpreadsheet: boolean;
  readonly records: readonly CsvRecord[];
  /** The record with which the file ends, without a line end. */
  readonly cutOff: CsvRecord | undefined;
}

async function* recordsOf(pieces: AsyncGenerator<Lines, void>): AsyncGenerator<CsvRecords> {
  const first = await pieces.next();
  if (first.done === true) return;
  const start: Lines = first.value;
  const { lineEnd } = start;
  if (BEGIN_OF_JSON.test(start.bytes.toString('utf8'))) throw new UnreadableError(start.line, IS_JSON);
  const { separator, length } = separatorIn(start);
  const isFromSpreadsheet = start.hasMark || separator !== ',' || length > 0 || lineEnd === '\r';
  let line = length > 0 ? 2 : 1;
  let records: CsvRecord[] = [];
  let last = start;
  const parser = parse({
    delimiter: separator,
    record_delimiter: [...LINE_ENDS, lineEnd],
    relax_column_count: true,
    max_record_size: MAX_RECORD,
    // Takes the record before the parser queues it: after an error the parser would drop its queue.
    on_record: (cells: string[]) => {
      records.push({ line, cells });
      line += 1 + cells.reduce((sum, cell) => sum + linesIn(cell, lineEnd), 0);
      return null;
    },
  });
  parser.on('error', () => undefined);
  parser.resume();
  let failure: Error | undefined;
  async function* toTheEnd(): AsyncGenerator<Lines | undefined> {
    try {
      yield { ...start, bytes: start.bytes.subarray(length) };
      yield* pieces;
    } catch (error) {
      failure = error as Error;
    }
    // The parser returns the last record only at the end, because it may not be complete.
    yield undefined;
  }
  for await (const piece of toTheEnd()) {
    const error = await new Promise<Error | null | undefined>((resolve) => {
      if (piece === undefined) parser.end(resolve);
      else parser.write(piece.bytes, resolve);
    });
    const hasEnd =
      piece !== undefined || ['\n', lineEnd].includes(last.bytes.toString('latin1', last.bytes.length - 1));
    const cutOff = hasEnd ? undefined : records.at(-1);
    yield { separator, isFromSpreadsheet, records: records.filter(isNotBlank), cutOff };
    last = piece ?? last;
    records = [];
    if (error) failure ??= error instanceof CsvError ? unreadable(line, error) : error;
    if (failure !== undefined) throw failure;
  }
}

function isNotBlank({ cells }: CsvRecord): boolean {
  return cells.some((cell) => cell !== '');
}

/** The separator of a line such as `sep=;`, with that line's length, or the one that the header has most often. */
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

/** The animals as CSV (RFC 4180), with a header. */
export async function* writeCsv(
  parts: AsyncIterable<readonly Animal[]>,
  cellOf = (text: string) => text,
): AsyncGenerator<string> {
  const cells = (animal: Partial<Animal>) => FIELD_NAMES.map((name) => cellOf(String(animal[name] ?? '')));
  yield await csvOf([FIELD_NAMES]);
  for await (const animals of parts) yield await csvOf(animals.map(cells));
}

/** The same for a spreadsheet, which would calculate a formula. `readCsv` reads the same animals from it. */
export async function* writeSpreadsheetCsv(parts: AsyncIterable<readonly Animal[]>): AsyncGenerator<string> {
  yield '\ufeff';
  yield* writeCsv(parts, disarmed);
}

function csvOf(rows: readonly (readonly unknown[])[]): Promise<string> {
  return new Promise((resolve, reject) => {
    stringify([...rows], { record_delimiter: '\r\n', quote_record_delimiter: true }, (error, text) => {
      if (error) reject(error);
      else resolve(text);
    });
  });
}
