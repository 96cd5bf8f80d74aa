import { Expose } from 'class-transformer';
import { IsDefined } from 'class-validator';
import { IsInt64 } from '../http/validation.js';

/** What POST /v1/store/orders takes. */
export class NewOrderBody {
  @Expose()
  @IsInt64()
  @IsDefined({ message: 'petId is required' })
  petId!: bigint;
}
