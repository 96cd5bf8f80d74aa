export { CancelOrder as cancelOrder, CompleteOrder as completeOrder } from './end-order.js';
export { ExpireOrders as expireOrders } from './expire-orders.js';
export { GetOrder as getOrder } from './get-order.js';
export { ListOrders as listOrders } from './list-orders.js';
export { PlaceOrder as placeOrder } from './place-order.js';
