import { orderSchemas } from './order.schema.js';

/** What POST /v1/store/orders takes. */
export class NewOrderBody {
  @orderSchemas.field('NewOrder')
  readonly petId!: bigint;
}
