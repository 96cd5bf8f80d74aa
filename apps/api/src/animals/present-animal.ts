import { type Animal, animalVersion } from '@adoption-store/domain';
import { entityTag, sha256 } from '../http/conditions.js';
import { petSchemas } from './animal.schema.js';

const write = petSchemas.serialiser('Pet');
const writeAll = petSchemas.listSerialiser('Pet');

/** The JSON text of each page, so that requests that share a page also share its text. */
const textOfPage = new WeakMap<readonly Animal[], Buffer>();

/** The JSON of an animal: a Pet. */
export function presentPet(animal: Animal): string {
  return write(animal);
}

export function presentPets(page: readonly Animal[]): Buffer {
  const text = textOfPage.get(page) ?? Buffer.from(writeAll(page));
  textOfPage.set(page, text);
  return text;
}

/** The entity tag of a Pet. It is made of the animal's version, which the database knows too. */
export function petTag(animal: Animal): string {
  return entityTag(animalVersion(animal, sha256));
}
