import type { Animal, Fields } from '../animals/animal.js';
import { jsonText } from './json.js';

/** An animal as everybody sees it: with all its fields. */
export type PetJson = Readonly<Pick<Animal, keyof Animal>>;

export function petJson({ id, name, categoryId, status }: Animal): PetJson {
  return { id, name, categoryId, status } satisfies Fields<PetJson>;
}

export function petJsonText(animal: Animal): string {
  return jsonText(petJson(animal));
}

/** The field of an animal in each field of its JSON, for a store that writes the JSON as it gives the animal its id. */
export const PET_JSON_FIELDS = {
  id: 'id',
  name: 'name',
  categoryId: 'categoryId',
  status: 'status',
} as const satisfies Readonly<Record<keyof PetJson, keyof Animal>>;
