import type { AnimalChangeInput, PetStatus } from '@adoption-store/domain';
import type { Given } from '../http/validation.js';
import { petSchemas } from './animal.schema.js';

/** The body of PATCH /v1/pets/{petId}: a JSON Merge Patch (RFC 7396). No field can be removed, so null is refused. */
export class PetPatchBody implements Given<AnimalChangeInput> {
  @petSchemas.field('PetPatch')
  readonly name!: string | undefined;

  @petSchemas.field('PetPatch')
  readonly categoryId!: bigint | undefined;

  @petSchemas.field('PetPatch')
  readonly status!: PetStatus | undefined;
}
