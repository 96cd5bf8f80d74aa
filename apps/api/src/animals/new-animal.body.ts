import type { NewAnimalInput, PetStatus } from '@adoption-store/domain';
import type { Given } from '../http/validation.js';
import { petSchemas } from './animal.schema.js';

/** The body of POST /v1/pets. The domain validates the name. */
export class NewPetBody implements Given<NewAnimalInput> {
  @petSchemas.field('NewPet')
  readonly name!: string;

  @petSchemas.field('NewPet')
  readonly categoryId!: bigint;

  @petSchemas.field('NewPet')
  readonly status!: PetStatus | undefined;
}
