import type { Animal } from '@adoption-store/domain';
import { type JsonSchema, serialiser } from '../http/serialiser.js';

/** Pet (requirements.md §2.1). The serialiser made of it writes bigints as integers, digit by digit. */
const petSchema: JsonSchema = {
  type: 'object',
  required: ['id', 'name', 'categoryId', 'status'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status: { type: 'string' },
  },
};

const write = serialiser(petSchema);
const writeAll = serialiser({ type: 'array', items: petSchema });

/** Requests that arrive together share the page that is read, and its text. */
const textOfPage = new WeakMap<readonly Animal[], string>();

/** What clients see of an animal: a Pet, as JSON. */
export function presentPet(animal: Animal): string {
  return write(animal);
}

export function presentPets(page: readonly Animal[]): string {
  const text = textOfPage.get(page) ?? writeAll(page);
  textOfPage.set(page, text);
  return text;
}
