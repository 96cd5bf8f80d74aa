import type { EventFeed, EventPage, EventQuery } from '../events/event-feed.js';
import {
  decideSequence,
  type EventId,
  type EventPlace,
  type EventPosition,
  type EventSequence,
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
type Unpublished = Omit<Stored, 'sequence'>;

export class InMemoryEventFeed implements EventFeed {
  private readonly outbox = new Map<number, Unpublished>();
  /** Returns a function that restores the events that aren't published. */
  readonly remember = () => remember(this.outbox);
  private readonly published = new Map<EventPosition, Stored>();
  private made = 0;
  private lastSequence = 0 as EventSequence;
  /** The position of the last published event. */
  last = 0n as EventPosition;
  /** The position of the last event that was purged. */
  purgedUntil = 0n as EventPosition;
  private purgedId: EventId | undefined;

  constructor(private readonly clock: Clock) {}

  /** The published events after a position, in their order. */
  after(position: EventPosition): readonly (readonly [EventPosition, Stored])[] {
    return [...this.published].filter(([each]) => each > position);
  }

  /** Returns a function that restores what is published, as a backup of the database does. */
  backUp(): () => void {
    const { last, published } = this;
    const kept = [...published];
    return () => {
      published.clear();
      for (const [position, event] of kept) published.set(position, event);
      this.last = last;
    };
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
      this.lastSequence = decideSequence(this.lastSequence, this.clock.now());
      this.published.set(this.last, { ...event, sequence: this.lastSequence });
      this.outbox.delete(place);
    }
    return taken.length;
  }

  async list({ accountId, types, after = 0n as EventPosition, limit }: EventQuery): Promise<EventPage> {
    const events = [...this.published]
      .filter(([position, { type }]) => position > after && types.includes(type))
      .filter(([, { type, receiver }]) => isForAll(type) || receiver === accountId)
      .slice(0, limit)
      .map(([position, { id, type, sequence, createdAt, data }]) => ({
        position,
        id,
        type,
        sequence,
        createdAt,
        data,
      }));
    const page = { start: this.idAt(after), end: await this.end(), purged: this.purgedUntil };
    return { events, ...page, hasUnpublished: this.outbox.size > 0 };
  }

  async end(): Promise<EventPlace> {
    return { position: this.last, id: this.idAt(this.last) };
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
      this.purgedId = event.id;
    }
    return before - this.published.size;
  }

  private idAt(position: EventPosition): EventId | undefined {
    return position === this.purgedUntil ? this.purgedId : this.published.get(position)?.id;
  }
}
