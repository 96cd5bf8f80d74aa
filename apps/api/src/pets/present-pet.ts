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

/** What clients see of an animal. */
export function presentPet({ id, name, categoryId, status }: Animal) {
  return { id, name, categoryId, status };
}

export type Pet = ReturnType<typeof presentPet>;
