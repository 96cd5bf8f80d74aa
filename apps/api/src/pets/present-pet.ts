import type { Animal } from '@adoption-store/domain';

/** Pet (requirements.md §2.1), for Fastify's serialiser, which writes bigints as integers, digit by digit. */
export const petSchema = {
  type: 'object',
  required: ['id', 'name', 'categoryId', 'status'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status: { type: 'string' },
  },
} as const;

/** The same animal is written once, for however many it was read: those who ask together share what is read. */
const written = new WeakMap<Animal, string>();

/** What clients see of an animal: a Pet, as JSON. */
export function presentPet(animal: Animal): string {
  const known = written.get(animal);
  if (known !== undefined) return known;
  const { id, name, categoryId, status } = animal;
  const text = `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;
  written.set(animal, text);
  return text;
}

export function presentPets(animals: readonly Animal[]): string {
  return `[${animals.map(presentPet).join(',')}]`;
}
