import type { Animal } from '@adoption-store/domain';
import { stringify } from 'csv-stringify';
import { csvRows, keyOf } from './csv-rows.js';
import { animalFrom, FIELD_NAMES, type ReadRows, rowOf } from './file-format.js';
import { armed, disarmed } from './formulas.js';

const INTEGER = /^(0|-?[1-9]\d{0,18})$/;

export const readCsv: ReadRows = (input, reading) =>
  csvRows(input, reading, {
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

/** The animals as CSV (RFC 4180), with a header. */
export async function* writeCsv(
  parts: AsyncIterable<readonly Animal[]>,
  cellOf = (text: string) => text,
): AsyncGenerator<string> {
  const cells = (animal: Partial<Animal>) => FIELD_NAMES.map((name) => cellOf(String(animal[name] ?? '')));
  yield await csvOf([FIELD_NAMES]);
  for await (const animals of parts) yield await csvOf(animals.map(cells));
}

/** The same for a spreadsheet: an apostrophe precedes each formula, so that it isn't executed. `readCsv` removes it. */
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
