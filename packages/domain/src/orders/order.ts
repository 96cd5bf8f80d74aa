import type { AccountId } from '../accounts/account.js';
import { type Animal, type AnimalEvent, type AnimalId, animalNotFound, changedByOrder } from '../animals/animal.js';
import type { Branded } from '../kernel/branded.js';
import { HOUR, type Instant, later } from '../kernel/clock.js';
import type { Condition } from '../kernel/condition.js';
import { DomainError, errorCodes, kernelErrors, ours, ourText } from '../kernel/errors.js';

export const orderErrors = errorCodes({
  pet_not_available: 'conflict',
  order_final: 'conflict',
  too_many_orders: 'conflict',
});

export type OrderId = Branded<bigint, 'OrderId'>;

export const ORDER_STATUSES = ['placed', 'completed', 'cancelled', 'expired'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** The ways an order can end. */
export type OrderOutcome = Exclude<OrderStatus, 'placed'>;

/** What a status of an order means: whether it can't change any more, and whether nobody else can order the animal. */
const MEANINGS: Readonly<Record<OrderStatus, { readonly isFinal: boolean; readonly isLive: boolean }>> = {
  placed: { isFinal: false, isLive: true },
  completed: { isFinal: true, isLive: true },
  cancelled: { isFinal: true, isLive: false },
  expired: { isFinal: true, isLive: false },
};

export const OPEN_ORDER_STATUSES = ORDER_STATUSES.filter((status) => !MEANINGS[status].isFinal);

/** At most one order of an animal has one of these statuses. */
export const LIVE_ORDER_STATUSES = ORDER_STATUSES.filter((status) => MEANINGS[status].isLive);

export interface Order {
  readonly id: OrderId;
  readonly accountId: AccountId;
  readonly animalId: AnimalId;
  readonly status: OrderStatus;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** An order as its account sees it. */
export interface OrderWithExpiry extends Order {
  readonly expiresAt: Instant | undefined;
}

export interface OrderEvent {
  readonly type: `order.${OrderStatus}`;
  readonly data: Order;
}

/** Orders that an account may have placed at the same time, so that no account reserves the whole store. */
export const DEFAULT_ORDER_LIMIT = 100;

/** How long an order may stay `placed`. */
export const DEFAULT_ORDER_TTL = 48 * HOUR;

/** The stored state that `decidePlacement` needs. */
export interface PlacementState {
  readonly id: OrderId;
  readonly animal: Animal | undefined;
  /** Whether another order for the animal has one of `LIVE_ORDER_STATUSES`. */
  readonly hasLiveOrder: boolean;
  /** Number of the account's orders that are placed. */
  readonly placedOrders: number;
}

export interface Placement extends Pick<Order, 'accountId' | 'animalId'> {
  /** Orders that the account may have placed at the same time. */
  readonly limit: number;
}

/** The events that are stored with an order and its animal. */
interface WithEvents {
  readonly events: readonly (OrderEvent | AnimalEvent)[];
}

export interface PlacedOrder extends WithEvents {
  readonly order: Order;
  readonly animal: Animal;
}

/**
 * The new order, and the animal that it reserves.
 *
 * @throws DomainError `too_many_orders`, `not_found` or `pet_not_available`.
 */
export function decidePlacement(state: PlacementState, placement: Placement, now: Instant): PlacedOrder {
  const { accountId, animalId, limit } = placement;
  if (state.placedOrders >= limit) throw tooManyOrders(limit);
  if (state.animal === undefined) throw animalNotFound(animalId);
  const animal = changedByOrder(state.animal, 'placed');
  if (animal === undefined || state.hasLiveOrder)
    throw new DomainError(orderErrors.pet_not_available, ours`the animal ${animalId} is not available`);
  const order: Order = { id: state.id, accountId, animalId, status: 'placed', createdAt: now, updatedAt: now };
  const events = [{ type: 'order.placed', data: order } as const, { type: 'pet.changed', data: animal } as const];
  return { order, animal, events };
}

/** The stored state of an order that will end. */
export interface EndState {
  readonly order: Order | undefined;
  /** The order's animal. */
  readonly animal: Animal | undefined;
}

/** An order by its id, which must be of that account. */
export interface OwnOrder {
  readonly accountId: AccountId;
  readonly id: bigint;
}

export interface OrderEnd {
  readonly id: bigint;
  /** The account whose order it must be. The operator may end every order. */
  readonly by: AccountId | 'operator';
  readonly outcome: OrderOutcome;
  readonly condition?: Condition<Order> | undefined;
}

export interface EndedOrder extends WithEvents {
  readonly order: Order;
  /** Unchanged if a person has edited its status since the order was placed. Undefined if it was withdrawn. */
  readonly animal: Animal | undefined;
}

/**
 * The order and its animal after the order has ended.
 *
 * @throws DomainError `not_found` if there is no such order or it is another account's, `precondition_failed`,
 * `order_final` if it has already ended.
 */
export function decideEnd({ order, animal }: EndState, end: OrderEnd, now: Instant): EndedOrder {
  const { by, id, outcome, condition } = end;
  if (order === undefined || (by !== 'operator' && order.accountId !== by)) throw orderNotFound(id, by);
  condition?.(order);
  if (MEANINGS[order.status].isFinal)
    throw new DomainError(orderErrors.order_final, ours`the order ${id} is ${ourText(order.status)} already`);
  return ended(order, animal, outcome, now);
}

/** When the order expires if nobody ends it. Undefined once it has ended. */
export function expiryOf({ status, createdAt }: Order, ttl: number): Instant | undefined {
  return status === 'placed' ? later(createdAt, ttl) : undefined;
}

/** The expired order and its animal. Undefined unless the order has been `placed` for `ttl` milliseconds. */
export function decideExpiry({ order, animal }: EndState, ttl: number, now: Instant): EndedOrder | undefined {
  const due = order && expiryOf(order, ttl);
  if (order === undefined || due === undefined || now < due) return undefined;
  return ended(order, animal, 'expired', now);
}

function ended(placed: Order, animal: Animal | undefined, status: OrderOutcome, now: Instant): EndedOrder {
  const order: Order = { ...placed, status, updatedAt: now };
  const changed = animal && changedByOrder(animal, status);
  const ofAnimal = changed === undefined ? [] : [{ type: 'pet.changed', data: changed } as const];
  return { order, animal: changed ?? animal, events: [{ type: `order.${status}`, data: order }, ...ofAnimal] };
}

export function tooManyOrders(most: number): DomainError {
  return new DomainError(
    orderErrors.too_many_orders,
    ours`the account has ${most} orders that are placed, which is the most; complete or cancel one first`,
  );
}

export function orderNotFound(id: bigint, by: OrderEnd['by']): DomainError {
  return new DomainError(
    kernelErrors.not_found,
    ours`no order${ourText(by === 'operator' ? '' : ' of this account')} has the id ${id}`,
  );
}
