import {
  type Animal,
  type AnimalChangeInput,
  MAX_NAME_LENGTH,
  type NewAnimal,
  type NewAnimalInput,
  PET_STATUSES,
  type PetJson,
  petJson,
  type PetStatus,
} from '@adoption-store/domain';
import { pathId } from '../http/operations/path-parameter.js';
import { ResourceSchemas } from '../http/operations/resource-schemas.js';
import { type Described, exampleOf, int64, object, oneOf, openSet, VISIBLE } from '../http/operations/schema.js';
import type { Given } from '../http/operations/validation.js';

export const PetId = pathId({ name: 'petId', description: 'Identifier of the animal.' });

export const LUNA = { id: 1, name: 'Luna', categoryId: 1, status: 'available' };

const status = oneOf(PET_STATUSES, 'Whether the animal can be adopted.');
const newAnimal = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
    pattern: VISIBLE,
    description: "The animal's name. It is stored exactly as sent, and has at least one visible character.",
    examples: [LUNA.name],
  },
  categoryId: int64('Identifier of the category the animal belongs to.', 1),
  // No `default` keyword: openapi-typescript would make the property required.
  status: { ...status, description: `${String(status['description'])} \`available\` by default.` },
} satisfies Record<keyof NewAnimal, Described>;

const animal = {
  id: int64('Unique identifier, assigned by the service on creation.', 1),
  ...newAnimal,
  status: openSet(PET_STATUSES, 'The progress of the adoption.'),
} satisfies Record<keyof PetJson, Described>;

/** `PetStatus` is only for requests. For responses the set is open, because a status may be added later. */
export const animalSchemas = new ResourceSchemas({
  Pet: object('An animal.', animal, LUNA),
  NewPet: object('An animal to add.', newAnimal, { name: 'Bella', categoryId: 1 }, ['status']),
  PetPatch: {
    type: 'object',
    description: 'The fields to change, at least one. The others stay.',
    minProperties: 1,
    properties: { ...newAnimal, status },
    examples: [{ name: 'Bella' }],
  },
  PetStatus: status,
});

export const animalJson = exampleOf('Pet', 'the animal');

/** The body of POST /v1/pets. The domain validates the name. */
export class NewAnimalBody implements Given<NewAnimalInput> {
  @animalSchemas.field('NewPet')
  readonly name!: string;

  @animalSchemas.field('NewPet')
  readonly categoryId!: bigint;

  @animalSchemas.field('NewPet')
  readonly status!: PetStatus | undefined;
}

/** The body of PATCH /v1/pets/{petId}: a JSON Merge Patch (RFC 7396). No field can be removed, so null is refused. */
export class AnimalPatchBody implements Given<AnimalChangeInput> {
  @animalSchemas.field('PetPatch')
  readonly name!: string | undefined;

  @animalSchemas.field('PetPatch')
  readonly categoryId!: bigint | undefined;

  @animalSchemas.field('PetPatch')
  readonly status!: PetStatus | undefined;
}

const write = animalSchemas.serialiser('Pet');

export function presentAnimal(animal: Animal): string {
  return write(petJson(animal));
}

/** A page's animals are written as they are: a PetJson has the fields of an animal, so a list needs no copy of each. */
export const presentAnimals: (page: readonly PetJson[]) => string = animalSchemas.listSerialiser('Pet');
