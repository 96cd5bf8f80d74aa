import type { SystemPorts } from '../kernel/ports.js';
import type { EventFeed } from './event-feed.js';

export interface EventPorts extends Pick<SystemPorts, 'cryptography'> {
  readonly events: EventFeed;
}
