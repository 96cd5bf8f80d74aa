import { type Animal, type ImportRow, type PetStatus, reasonOf } from '@adoption-store/domain';
import { parse } from 'lossless-json';
import { objectOf, type Omissions, type ReadRows, RowError, rowOf } from './file-format.js';
import { piecesOf } from './lines.js';

const FIELDS = ['id', 'name', 'categoryId', 'status'] as const;
const BLANK = /^[ \t\r]*$/;
// No int64 has more digits.
const INTEGER = /^-?\d{1,19}$/;

/** Reads an animal as JSON from each line, as strictly as the API reads a body. */
export const readNdjson: ReadRows = async function* (input, { omissions }) {
  for await (const { line, bytes } of piecesOf(input, '\n')) {
    const texts = bytes.toString('utf8').split('\n');
    yield texts.flatMap((text, index) => (BLANK.test(text) ? [] : animalRow(line + index, text, omissions)));
  }
};

function animalRow(line: number, text: string, omissions: Omissions): ImportRow {
  return rowOf(line, () => {
    const { id, name, categoryId, status, ...others } = objectOf(strictly(text));
    for (const property of Object.keys(others)) omissions.add(property);
    if (id !== undefined && typeof id !== 'bigint') throw new RowError('id must be an integer');
    if (typeof name !== 'string') throw new RowError('name must be a string');
    if (typeof categoryId !== 'bigint') throw new RowError('categoryId must be an integer');
    if (status !== undefined && typeof status !== 'string') throw new RowError('status must be a string');
    return { id, name, categoryId, status: status as PetStatus | undefined };
  });
}

function strictly(text: string): unknown {
  try {
    return parse(text, undefined, {
      // No field takes any other number; the checks of the fields refuse it.
      parseNumber: (digits) => (INTEGER.test(digits) ? BigInt(digits) : Number(digits)),
      onDuplicateKey: ({ key }) => {
        throw new RowError(`has the property ${JSON.stringify(key)} twice`);
      },
    });
  } catch (error) {
    if (error instanceof RowError) throw error;
    if (error instanceof RangeError) throw new RowError('is nested too deeply');
    throw new RowError(`is not JSON: ${reasonOf(error)}`);
  }
}

/** The animals as JSON, one per line. */
export async function* writeNdjson(parts: AsyncIterable<readonly Animal[]>): AsyncGenerator<string> {
  for await (const animals of parts) yield animals.map((animal) => `${jsonOf(animal)}\n`).join('');
}

function jsonOf(animal: Animal): string {
  const members = FIELDS.map((field) => {
    const value = animal[field];
    return `${JSON.stringify(field)}:${typeof value === 'bigint' ? value : JSON.stringify(value)}`;
  });
  return `{${members.join()}}`;
}
