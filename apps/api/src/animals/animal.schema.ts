import { type Animal, MAX_NAME_LENGTH, type NewAnimal, PET_STATUSES } from '@adoption-store/domain';
import { pathId } from '../http/path-parameter.js';
import { ResourceSchemas } from '../http/resource-schemas.js';
import { type Described, exampleOf, int64, object, oneOf, openSet, schemaRef } from '../http/schema.js';

export const PetId = pathId({ name: 'petId', description: 'Identifier of the animal.' });

export const LUNA = { id: 1, name: 'Luna', categoryId: 1, status: 'available' };

const newAnimal = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
    pattern: String.raw`\S`,
    description: "The animal's name. It is stored exactly as sent, and must not be only white space.",
    examples: [LUNA.name],
  },
  categoryId: int64('Identifier of the category the animal belongs to.', 1),
  // No `default` keyword: openapi-typescript would make the property required.
  status: { ...schemaRef('PetStatus'), description: '`available` by default.' },
} satisfies Record<keyof NewAnimal, Described>;

const animal = {
  id: int64('Unique identifier, assigned by the service on creation.', 1),
  ...newAnimal,
  status: openSet(PET_STATUSES, 'The progress of the adoption.'),
} satisfies Record<keyof Animal, Described>;

/** `PetStatus` is for requests: a response may have a status that is added later. */
export const animalSchemas = new ResourceSchemas({
  Pet: object('An animal.', animal, LUNA),
  NewPet: {
    type: 'object',
    description: 'An animal to add.',
    required: ['name', 'categoryId'],
    properties: newAnimal,
    examples: [{ name: 'Bella', categoryId: 1 }],
  },
  PetPatch: {
    type: 'object',
    description: 'The fields to change, at least one. The others stay.',
    minProperties: 1,
    properties: { ...newAnimal, status: schemaRef('PetStatus') },
    examples: [{ name: 'Bella' }],
  },
  PetStatus: oneOf(PET_STATUSES, 'Whether the animal can be adopted.'),
});

export const animalJson = exampleOf('Pet', 'the animal');
