import type { EventFeed } from './event-feed.js';

export interface EventPorts {
  readonly events: EventFeed;
}
