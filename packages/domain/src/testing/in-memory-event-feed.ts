import type { EventFeed, EventPage, EventQuery } from '../events/event-feed.js';
import {
  type EventCursor,
  type EventId,
  type EventPosition,
  type FeedEpoch,
  FIRST_EPOCH,
  isForAll,
  publishedData,
  type PublishedEvent,
  receiverOf,
  type StoreEvent,
} from '../events/event.js';
import type { AccountId } from '../accounts/account.js';
import type { Clock, Instant } from '../kernel/clock.js';
import { remember } from './in-memory-idempotency-records.js';

/** An event, and the account that receives it. Undefined: all accounts. */
export type Stored = Omit<PublishedEvent, 'position'> & { readonly receiver: AccountId | undefined };

export class InMemoryEventFeed implements EventFeed {
  private readonly outbox = new Map<number, Stored>();
  /** Returns a function that restores the events that aren't published. */
  readonly remember = () => remember(this.outbox);
  private readonly published = new Map<EventPosition, Stored>();
  private made = 0;
  private epoch = FIRST_EPOCH;
  /** The position of the last published event. */
  last = 0n as EventPosition;
  /** The position of the last event that was purged. */
  purgedUntil = 0n as EventPosition;

  constructor(private readonly clock: Clock) {}

  /** The published events after a position, in their order. */
  after(position: EventPosition): readonly (readonly [EventPosition, Stored])[] {
    return [...this.published].filter(([each]) => each > position);
  }

  /** Begins a new epoch, as an operator does who restores a database. */
  beginEpoch(epoch: FeedEpoch): void {
    this.epoch = epoch;
  }

  /** Stores the events of a change. */
  add(events: readonly StoreEvent[]): void {
    for (const event of events) {
      this.made += 1;
      this.outbox.set(this.made, {
        id: `evt_${this.made.toString(16).padStart(32, '0')}` as EventId,
        type: event.type,
        createdAt: this.clock.now(),
        data: publishedData(event),
        receiver: receiverOf(event),
      });
    }
  }

  async publish(limit: number): Promise<number> {
    const taken = [...this.outbox].slice(0, limit);
    for (const [place, event] of taken) {
      this.last = (this.last + 1n) as EventPosition;
      this.published.set(this.last, event);
      this.outbox.delete(place);
    }
    return taken.length;
  }

  async list({ accountId, types, after = 0n as EventPosition, limit }: EventQuery): Promise<EventPage> {
    const events = [...this.published]
      .filter(([position, { type }]) => position > after && types.includes(type))
      .filter(([, { type, receiver }]) => isForAll(type) || receiver === accountId)
      .slice(0, limit)
      .map(([position, { id, type, createdAt, data }]) => ({ position, id, type, createdAt, data }));
    const { epoch, last: end, purgedUntil: purged } = this;
    return { events, epoch, end, purged, hasUnpublished: this.outbox.size > 0 };
  }

  async end(): Promise<EventCursor> {
    return { epoch: this.epoch, position: this.last };
  }

  async oldestUnpublished(): Promise<Instant | undefined> {
    return [...this.outbox.values()][0]?.createdAt;
  }

  async purge(until: Instant): Promise<number> {
    const before = this.published.size;
    for (const [position, event] of this.published) {
      if (event.createdAt > until) break;
      this.published.delete(position);
      this.purgedUntil = position;
    }
    return before - this.published.size;
  }
}
