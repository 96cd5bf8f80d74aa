import { type Animal, type ImportRow, reasonOf } from '@adoption-store/domain';
import { parse } from 'lossless-json';
import { animalFrom, FIELD_NAMES, objectOf, type Omissions, type ReadRows, rowOf } from './file-format.js';
import { elementsOf } from './json-elements.js';
import { piecesOf } from './lines.js';
import { quoted, RowError, UnreadableError } from './refusals.js';

const KNOWN: readonly string[] = FIELD_NAMES;
const BLANK = /^[ \t\r]*$/;
// No int64 has more digits.
const INTEGER = /^-?\d{1,19}$/;
const BEGIN_OF_ARRAY = /^\s*\[\s*(?:\{|$)/;
const IS_ARRAY = 'is an array, not an animal a line: name its format by --format json';
const IS_PETFINDER = 'is not an animal: if it is of Petfinder, use --format petfinder';

/** Reads an animal as JSON from each line, as strictly as the API reads a body. */
export const readNdjson: ReadRows = async function* (input, { omissions, encoding }) {
  let isBegun = false;
  for await (const { line, bytes, lineEnd } of piecesOf(input, 'line', encoding)) {
    const piece = bytes.toString('utf8');
    if (!isBegun && BEGIN_OF_ARRAY.test(piece)) throw new UnreadableError(line, IS_ARRAY);
    isBegun ||= piece.trim() !== '';
    const texts = piece.split(lineEnd);
    yield texts.flatMap((text, index) => (BLANK.test(text) ? [] : animalRow(line + index, text, omissions)));
  }
};

/** Reads an array of animals, as the API lists them, or several: the pages of a list. */
export const readJson: ReadRows = async function* (input, { omissions, encoding }) {
  for await (const texts of elementsOf(piecesOf(input, '"', encoding)))
    yield texts.map(({ line, text }) => animalRow(line, text, omissions));
};

function animalRow(line: number, text: string, omissions: Omissions): ImportRow {
  return rowOf(line, () => {
    const values = objectOf(strictly(text));
    if (!('name' in values) && ('animals' in values || 'animal' in values)) throw new RowError(IS_PETFINDER);
    for (const property of Object.keys(values)) if (!KNOWN.includes(property)) omissions.add(property);
    return animalFrom((name) => values[name]);
  });
}

function strictly(text: string): unknown {
  try {
    return parse(text, undefined, {
      // No field takes any other number; the checks of the fields refuse it.
      parseNumber: (digits) => (INTEGER.test(digits) ? BigInt(digits) : Number(digits)),
      onDuplicateKey: ({ key }) => {
        throw new RowError(`has the property ${quoted(key)} twice`);
      },
    });
  } catch (error) {
    if (error instanceof RowError) throw error;
    if (error instanceof RangeError) throw new RowError('is nested too deeply');
    throw new RowError(`is not JSON: ${reasonOf(error)}`);
  }
}

export async function* writeNdjson(parts: AsyncIterable<readonly Animal[]>): AsyncGenerator<string> {
  for await (const animals of parts) yield animals.map((animal) => `${jsonOf(animal)}\n`).join('');
}

function jsonOf(animal: Partial<Animal>): string {
  const members = FIELD_NAMES.flatMap((name) => {
    const value = animal[name];
    if (value === undefined) return [];
    return `${JSON.stringify(name)}:${typeof value === 'bigint' ? value : JSON.stringify(value)}`;
  });
  return `{${members.join()}}`;
}
