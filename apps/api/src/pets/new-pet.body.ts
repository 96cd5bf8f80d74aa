import { Expose } from 'class-transformer';
import { PET_STATUSES, type PetStatus } from '@adoption-store/domain';
import { IsDefined, IsIn, IsString, ValidateIf } from 'class-validator';
import { IsInt64 } from '../http/validation.js';

/** NewPet. What a name may be is the domain's to say. */
export class NewPetBody {
  @Expose()
  @IsString({ message: 'name must be a string' })
  @IsDefined({ message: 'name is required' })
  name!: string;

  @Expose()
  @IsInt64()
  @IsDefined({ message: 'categoryId is required' })
  categoryId!: bigint;

  @Expose()
  // Not @IsOptional, which would let null through.
  @ValidateIf((body: NewPetBody) => body.status !== undefined)
  @IsIn(PET_STATUSES, { message: `status must be one of ${PET_STATUSES.join(', ')}` })
  status?: PetStatus;
}
