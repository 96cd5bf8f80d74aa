import { type Animal, animalVersion } from '@adoption-store/domain';
import { entityTag, sha256 } from '../http/conditions.js';
import { animalSchemas } from './animal.schema.js';

const write = animalSchemas.serialiser('Pet');
const writeAll = animalSchemas.listSerialiser('Pet');

/** The JSON text of each page, so that requests that share a page also share its text. */
const textOfPage = new WeakMap<readonly Animal[], Buffer>();

/** The JSON of an animal: a Pet. */
export function presentAnimal(animal: Animal): string {
  return write(animal);
}

export function presentAnimals(page: readonly Animal[]): Buffer {
  const text = textOfPage.get(page) ?? Buffer.from(writeAll(page));
  textOfPage.set(page, text);
  return text;
}

/** The entity tag of a Pet. It is made of the animal's version, which the database knows too. */
export function animalTag(animal: Animal): string {
  return entityTag(animalVersion(animal, sha256));
}
