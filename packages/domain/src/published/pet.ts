import type { Animal, AnimalId, Fields, NewAnimal } from '../animals/animal.js';
import { jsonText } from './json.js';

/** An animal as everybody sees it: with all its fields. */
export type PetJson = Readonly<Pick<Animal, keyof Animal>>;

export function petJson({ id, name, categoryId, status }: Animal): PetJson {
  return { id, name, categoryId, status } satisfies Fields<PetJson>;
}

export function petJsonText(animal: Animal): string {
  return jsonText(petJson(animal));
}

/** The text of an animal that is about to get its id: this, the id, and `petTextBehindId`. */
export const PET_TEXT_BEFORE_ID = '{"id":';

export function petTextBehindId(animal: NewAnimal): string {
  return petJsonText({ ...animal, id: 0n as AnimalId }).slice(`${PET_TEXT_BEFORE_ID}0`.length);
}
