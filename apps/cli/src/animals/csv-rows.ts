import type { ImportRow } from '@adoption-store/domain';
import { brokenName, type CsvRecord, recordsOf } from './csv-records.js';
import type { Omissions, Reading } from './file-format.js';
import { piecesOf } from './lines.js';
import { quoted, UnreadableError } from './refusals.js';

/** Cells by column. A column that the file lacks is empty. */
export type Cells = (column: string) => string;

export interface CsvShape {
  readonly required: readonly string[];
  /** Columns that are read. A value in another column is counted in the report as an omission. */
  readonly known: readonly string[];
  readonly isEmpty: (cell: string) => boolean;
  /** The meaning of a cell in a file that a spreadsheet has written. Default: its text. */
  readonly fromSpreadsheet?: (cell: string) => string;
  /** The row of a record; undefined if the record isn't an animal. */
  readonly rowOf: (cells: Cells, line: number) => ImportRow | undefined;
}

export async function* csvRows(
  input: AsyncIterable<Buffer>,
  { omissions, encoding }: Reading,
  shape: CsvShape,
): AsyncGenerator<readonly ImportRow[]> {
  const { fromSpreadsheet = (cell) => cell } = shape;
  let header: Header | undefined;
  for await (const part of recordsOf(piecesOf(input, 'line', encoding))) {
    const meaningOf = part.isFromSpreadsheet ? fromSpreadsheet : (cell: string) => cell;
    const rows: ImportRow[] = [];
    for (const record of part.records) {
      if (header === undefined) {
        header = headerOf(record, part.separator, shape);
        continue;
      }
      const refusal = refusalOf(record, header, record === part.cutOff);
      const row = refusal ?? rowIn(record, header, shape, meaningOf);
      if (refusal === undefined) countOmissions(record, header, shape, omissions);
      if (row !== undefined) rows.push(row);
    }
    yield rows;
  }
  if (header === undefined) throw new UnreadableError(1, 'should have the names of the columns');
}

interface Header {
  readonly length: number;
  readonly positionOf: ReadonlyMap<string, number>;
  /** By place: the name of the column, if this store has no such field. */
  readonly omitted: readonly (string | undefined)[];
}

function headerOf({ line, cells }: CsvRecord, separator: string, { required, known }: CsvShape): Header {
  const read = new Set([...required, ...known].map(keyOf));
  const positionOf = new Map<string, number>();
  for (const [place, name] of cells.entries()) {
    if (/[\r\n]/.test(name)) throw brokenName(line, name);
    const key = keyOf(name);
    if (read.has(key) && positionOf.has(key)) throw new UnreadableError(line, `has the column ${quoted(name)} twice`);
    positionOf.set(key, place);
  }
  const missing = required.find((name) => !positionOf.has(keyOf(name)));
  if (missing !== undefined) {
    const found = `the separator found is ${quoted(separator)}`;
    throw new UnreadableError(line, `lacks the column ${quoted(missing)} (${found})`);
  }
  const knownKeys = known.map(keyOf);
  const omitted = cells.map((name) => {
    if (knownKeys.includes(keyOf(name))) return undefined;
    return name.trim() === '' ? 'columns without a name' : name;
  });
  return { length: cells.length, positionOf, omitted };
}

/**
 * Why a row with more or fewer cells than the header is refused. Excel adds and removes empty cells at the end of rows,
 * so these are accepted. But if the file ends without a line end in a short row, it may have been cut off.
 */
function refusalOf(record: CsvRecord, header: Header, isCutOff: boolean): ImportRow | undefined {
  const { line, cells } = record;
  const hasMore = cells.slice(header.length).some((cell) => cell !== '');
  if (hasMore || (isCutOff && isShort(record, header))) return { line, refusal: sizesOf(record, header) };
  return undefined;
}

function rowIn(
  record: CsvRecord,
  header: Header,
  { rowOf }: CsvShape,
  meaningOf: (cell: string) => string,
): ImportRow | undefined {
  const { line, cells } = record;
  const row = rowOf((column) => meaningOf(cells[header.positionOf.get(keyOf(column)) ?? -1] ?? ''), line);
  if (row === undefined || !('refusal' in row) || !isShort(record, header)) return row;
  return { line, refusal: `${row.refusal} (the row ${sizesOf(record, header)})` };
}

function countOmissions({ cells }: CsvRecord, { omitted }: Header, { isEmpty }: CsvShape, omissions: Omissions): void {
  for (const [place, cell] of cells.entries()) {
    const name = omitted[place];
    if (name !== undefined && !isEmpty(cell)) omissions.add(name);
  }
}

function isShort({ cells }: CsvRecord, header: Header): boolean {
  return cells.length < header.length;
}

function sizesOf({ cells }: CsvRecord, header: Header): string {
  return `has ${cells.length} fields, and the header ${header.length}`;
}

/** The form in which columns and cells (except names) are compared: without regard to case and outer spaces. */
export function keyOf(text: string): string {
  return text.trim().toLowerCase();
}
