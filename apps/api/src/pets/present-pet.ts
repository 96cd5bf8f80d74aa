import type { Animal } from '@adoption-store/domain';
import { petSchemas } from './pet.schema.js';

const write = petSchemas.serialiser('Pet');
const writeAll = petSchemas.listSerialiser('Pet');

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
