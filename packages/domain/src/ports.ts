import type { KeyPorts } from './accounts/keys/ports.js';
import type { HolderPorts } from './accounts/sign-in/ports.js';
import type { AnimalPorts } from './animals/ports.js';
import type { CategoryPorts } from './categories/ports.js';
import type { EventPorts } from './events/ports.js';
import type { IdempotencyPorts } from './idempotency/ports.js';
import type { LimitPorts } from './limits/ports.js';
import type { MessagePorts } from './messages/ports.js';
import type { OrderPorts } from './orders/ports.js';
import type { SessionPorts } from './sessions/ports.js';
import type { WebhookPorts } from './webhooks/ports.js';

/** The ports that the domain needs. */
export type Ports = AnimalPorts &
  CategoryPorts &
  OrderPorts &
  MessagePorts &
  EventPorts &
  KeyPorts &
  HolderPorts &
  SessionPorts &
  LimitPorts &
  IdempotencyPorts &
  WebhookPorts;
