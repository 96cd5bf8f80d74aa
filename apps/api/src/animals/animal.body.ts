import type { AnimalChangeInput, NewAnimalInput, PetStatus } from '@adoption-store/domain';
import type { Given } from '../http/validation.js';
import { animalSchemas } from './animal.schema.js';

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
