import { orderSchemas } from './order.schema.js';

/** The body of POST /v1/store/orders. */
export class NewOrderBody {
  @orderSchemas.field('NewOrder')
  readonly petId!: bigint;
}
