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

/** What was written last: those who ask together share what is read, and what is written of it. */
let last: { readonly animals: readonly Animal[]; readonly text: string } = { animals: [], text: '[]' };

/** What clients see of an animal: a Pet, as JSON. */
export function presentPet(animal: Animal): string {
  return write(animal);
}

export function presentPets(animals: readonly Animal[]): string {
  if (!areSame(last.animals, animals)) last = { animals, text: writeAll(animals) };
  return last.text;
}

function areSame(some: readonly Animal[], others: readonly Animal[]): boolean {
  return some.length === others.length && some.every((animal, index) => animal === others[index]);
}
