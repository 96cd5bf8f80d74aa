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

interface WrittenPage {
  readonly animals: readonly Animal[];
  readonly text: string;
}

/** By their first animal, what was written last: those who ask together share what is read, and what is written of it. */
const written = new WeakMap<Animal, WrittenPage>();

/** What clients see of an animal: a Pet, as JSON. */
export function presentPet(animal: Animal): string {
  return write(animal);
}

export function presentPets(animals: readonly Animal[]): string {
  const [first] = animals;
  if (first === undefined) return '[]';
  const known = written.get(first);
  if (known !== undefined && areSame(known.animals, animals)) return known.text;
  const text = `[${animals.map(write).join(',')}]`;
  written.set(first, { animals, text });
  return text;
}

function areSame(some: readonly Animal[], others: readonly Animal[]): boolean {
  return some.length === others.length && some.every((animal, index) => animal === others[index]);
}
