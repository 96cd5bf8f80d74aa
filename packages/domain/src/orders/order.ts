import type { AccountId } from '../accounts/account.js';
import type { AnimalId, PetStatus } from '../animals/animal.js';
import type { Branded } from '../kernel/branded.js';
import type { Instant } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';

export type OrderId = Branded<bigint, 'OrderId'>;

export const ORDER_STATUSES = ['placed', 'completed', 'cancelled', 'expired'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** The ways an order can end. Each is final. */
export type OrderOutcome = Exclude<OrderStatus, 'placed'>;

export interface NewOrder {
  readonly accountId: AccountId;
  readonly animalId: AnimalId;
  readonly createdAt: Instant;
}

export interface Order extends NewOrder {
  readonly id: OrderId;
  readonly status: OrderStatus;
  readonly updatedAt: Instant;
}

/** Orders that an account may have placed at the same time, so that no account reserves the whole store. */
export const DEFAULT_ORDER_LIMIT = 100;

export function tooManyOrders(most: number): DomainError {
  return new DomainError(
    'too_many_orders',
    `the account has ${most} orders that are placed, which is the most; complete or cancel one first`,
  );
}

/**
 * The status of the animal after its order gets this status. Each change is one that the animals' own table allows to
 * orders.
 */
export const petStatusOnceOrder: Readonly<Record<OrderStatus, PetStatus>> = {
  placed: 'pending',
  completed: 'sold',
  cancelled: 'available',
  expired: 'available',
};
