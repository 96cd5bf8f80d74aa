import { type Fields, type ImportRow, type NewAnimal, type PetStatus, reasonOf } from '@adoption-store/domain';
import { objectOf, type Reading, type ReadRows, rowOf } from './file-format.js';
import { elementsOf, type JsonText } from './json-elements.js';
import { piecesOf } from './lines.js';
import { quoted, RowError } from './refusals.js';

// https://www.petfinder.com/developers/v2/docs/
const UNKNOWN_SHAPE =
  'is not JSON of a known shape: known are {"animals":[…]}, {"animal":{…}}, an array of animals and an animal';
const STATUSES: Readonly<Record<string, PetStatus>> = { adoptable: 'available', found: 'pending', adopted: 'sold' };

/** Reads animals of Petfinder's API, version 2. */
export const readPetfinder: ReadRows = async function* (input, reading) {
  for await (const texts of elementsOf(piecesOf(input, '"', reading.encoding), 'animals', UNKNOWN_SHAPE))
    yield texts.map((text) => animalRow(text, reading));
};

function animalRow({ line, text }: JsonText, { omissions, categoryOf }: Reading): ImportRow {
  return rowOf(line, () => {
    const { name, species, type, status, ...others } = animalIn(objectOf(parsed(text)));
    for (const [property, value] of Object.entries(others)) if (!isEmpty(value)) omissions.add(property);
    if (typeof name !== 'string') throw new RowError('name must be a string');
    const kinds = [species, type].filter((kind) => typeof kind === 'string');
    const categoryId = kinds.map(categoryOf).find((id) => id !== undefined);
    if (categoryId === undefined) throw new RowError(`species ${quoted(species)} has no category`);
    return { name, categoryId, status: statusOf(status) } satisfies Fields<NewAnimal>;
  });
}

/** The answer for one animal has it as a property. */
function animalIn(answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if ('animal' in answer) return objectOf(answer['animal']);
  if (!['name', 'species', 'type', 'status'].some((property) => property in answer)) throw new RowError(UNKNOWN_SHAPE);
  return answer;
}

function statusOf(status: unknown): PetStatus {
  const known = typeof status === 'string' && Object.hasOwn(STATUSES, status) ? STATUSES[status] : undefined;
  if (known === undefined) throw new RowError(`status must be one of ${Object.keys(STATUSES).join(', ')}`);
  return known;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RowError(`is not JSON: ${reasonOf(error)}`);
  }
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
