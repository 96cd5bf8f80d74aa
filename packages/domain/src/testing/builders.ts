import type { Account, AccountId } from '../accounts/account.js';
import { PLANS } from '../accounts/plan.js';
import type { AnimalId } from '../animals/animal.js';
import { instant } from '../kernel/clock.js';
import type { Order, OrderId } from '../orders/order.js';

const NOW = instant(Date.UTC(2026, 0, 1));

/** An account on the free plan, with all scopes and an unproven address. */
export function anAccount(changes: Partial<Account> = {}): Account {
  return {
    id: 1n as AccountId,
    email: 'dev@example.com',
    plan: PLANS.free,
    scopes: undefined,
    createdAt: NOW,
    credentialVersion: 3,
    provenAt: undefined,
    ...changes,
  };
}

/** A placed order of that account for the animal 3. */
export function anOrder(changes: Partial<Order> = {}): Order {
  return {
    id: 5n as OrderId,
    accountId: 1n as AccountId,
    animalId: 3n as AnimalId,
    status: 'placed',
    createdAt: NOW,
    updatedAt: NOW,
    ...changes,
  };
}
