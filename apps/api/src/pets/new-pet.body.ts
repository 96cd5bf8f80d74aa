import { PET_STATUSES, type PetStatus } from '@adoption-store/domain';
import { IsDefined, IsIn, IsString, ValidateIf } from '../http/class-validator.js';
import { IsInt64 } from '../http/validation.js';

/** NewPet. What a name may be is the domain's to say. */
export class NewPetBody {
  @IsString({ message: 'name must be a string' })
  @IsDefined({ message: 'name is required' })
  name!: string;

  @IsInt64()
  @IsDefined({ message: 'categoryId is required' })
  categoryId!: bigint;

  // Not @IsOptional, which would let null through.
  @ValidateIf((body: NewPetBody) => body.status !== undefined)
  @IsIn(PET_STATUSES, { message: `status must be one of ${PET_STATUSES.join(', ')}` })
  status?: PetStatus;
}
