import { IsDefined } from '../http/class-validator.js';
import { IsInt64 } from '../http/validation.js';

/** What POST /v1/store/orders takes. */
export class NewOrderBody {
  @IsInt64()
  @IsDefined({ message: 'petId is required' })
  petId!: bigint;
}
