import type { Animal } from '@adoption-store/domain';
import { petSchemas } from './pet.schema.js';

const write = petSchemas.serialiser('Pet');
const writeAll = petSchemas.listSerialiser('Pet');

/** Requests that arrive together share the page that is read, and its text. */
const textOfPage = new WeakMap<readonly Animal[], Buffer>();

/** The public view of an animal: a Pet, as JSON. */
export function presentPet(animal: Animal): string {
  return write(animal);
}

export function presentPets(page: readonly Animal[]): Buffer {
  const text = textOfPage.get(page) ?? Buffer.from(writeAll(page));
  textOfPage.set(page, text);
  return text;
}
