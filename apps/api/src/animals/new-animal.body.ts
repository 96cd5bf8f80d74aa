import type { NewAnimalInput, PetStatus } from '@adoption-store/domain';
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
