import { CancelOrder, CompleteOrder } from './end-order.js';
import { ExpireOrders } from './expire-orders.js';
import { GetOrder } from './get-order.js';
import { ListOrders } from './list-orders.js';
import { PlaceOrder } from './place-order.js';

export const orderUseCases = {
  placeOrder: PlaceOrder,
  completeOrder: CompleteOrder,
  cancelOrder: CancelOrder,
  getOrder: GetOrder,
  listOrders: ListOrders,
  expireOrders: ExpireOrders,
};
