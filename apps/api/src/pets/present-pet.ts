import type { Animal } from '@adoption-store/domain';
import { type JsonSchema, serialiser } from '../http/serialiser.js';

/** Pet (requirements.md §2.1). The serialiser made of it writes bigints as integers, digit by digit. */
export const petSchema: JsonSchema = {
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

/** An animal is written once, however many it was read for: those who ask together share what is read. */
const written = new WeakMap<Animal, string>();

/** What clients see of an animal: a Pet, as JSON. */
export function presentPet(animal: Animal): string {
  const known = written.get(animal);
  if (known !== undefined) return known;
  const text = write(animal);
  written.set(animal, text);
  return text;
}

export function presentPets(animals: readonly Animal[]): string {
  return `[${animals.map(presentPet).join(',')}]`;
}
