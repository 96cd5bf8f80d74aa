import type { SystemPorts } from '../kernel/ports.js';
import type { OrderRepository } from './order-repository.js';

export interface OrderPorts extends SystemPorts {
  readonly orders: OrderRepository;
}

export interface OrderOptions {
  /** Milliseconds that an order may stay `placed`. Default: 48 hours. */
  readonly orderTtl: number;
  /** Orders that an account may have placed at the same time. */
  readonly orderLimit: number;
}
