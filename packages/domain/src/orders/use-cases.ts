export * from './end-order.js';
export { ExpireOrders } from './expire-orders.js';
export * from './get-order.js';
export * from './list-orders.js';
export * from './place-order.js';
