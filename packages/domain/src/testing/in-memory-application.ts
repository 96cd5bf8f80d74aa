import { type ApplicationOptions, createApplication, type Ports } from '../application.js';
import { DEFAULT_ADDRESS_LIMIT, DEFAULT_BAN_POLICY } from '../limits/quota.js';
import { DEFAULT_MESSAGE_LIMIT } from '../messages/message.js';
import { DEFAULT_ORDER_LIMIT, DEFAULT_ORDER_TTL } from '../orders/order.js';
import type { StorePolicy } from '../store-policy.js';
import { inMemoryPorts } from './in-memory-ports.js';

/** A policy for tests, with the changes. */
export function testPolicy(changes: Partial<StorePolicy> = {}): StorePolicy {
  return {
    keyEnvironment: 'live',
    categories: 'open',
    orderLimit: DEFAULT_ORDER_LIMIT,
    orderTtl: DEFAULT_ORDER_TTL,
    messageLimit: DEFAULT_MESSAGE_LIMIT,
    addressLimit: DEFAULT_ADDRESS_LIMIT,
    bans: DEFAULT_BAN_POLICY,
    ...changes,
  };
}

/** The application on ports in memory. */
export function inMemoryApplication(
  changes: Partial<StorePolicy> = {},
  ports: Ports = inMemoryPorts({ categories: changes.categories ?? 'open' }),
  options?: ApplicationOptions,
) {
  return createApplication(ports, testPolicy(changes), options);
}
