import type { AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import type { EventId, EventPlace, EventPosition, EventType, PublishedEvent } from './event.js';

export interface EventQuery {
  /** Reads the events that are for this account. */
  readonly accountId: AccountId;
  /** Only events of these types. */
  readonly types: readonly EventType[];
  /** Only events behind this position. */
  readonly after?: EventPosition | undefined;
  readonly limit: number;
}

/** A part of the feed. All of it is of one instant. */
export interface EventPage {
  /** The first matching events, ascending by position. */
  readonly events: readonly PublishedEvent[];
  /** The event at the position behind which the page begins. Undefined if the feed doesn't know it, or there is none. */
  readonly start: EventId | undefined;
  /** The last position that was given. Later events get greater ones. */
  readonly end: EventPlace;
  /** The last position whose event was purged, 0 if none was. All events behind it are kept. */
  readonly purged: EventPosition;
  /** Whether events are stored that have no position yet. */
  readonly hasUnpublished: boolean;
}

/**
 * Port: the events in their order. A port that stores a change stores the events of the decision in the same transaction.
 * They get their positions later, when they are published: transactions that commit in another order than they began
 * would otherwise hide events from a reader that is already behind them.
 */
export interface EventFeed {
  /**
   * Gives stored events the next positions and sequences, at most `limit` of them, the longest stored first. One caller
   * at a time publishes, and the others wait in turn. Returns how many events were published.
   *
   * @param longestWait milliseconds after which a caller publishes nothing, because others still do. It doesn't fail if
   *   the store can't publish just now. Default: it waits.
   */
  publish(limit: number, longestWait?: number): Promise<number>;
  list(query: EventQuery): Promise<EventPage>;
  /** Behind the last position that was given. Publishes nothing. */
  end(): Promise<EventPlace>;
  /** When the oldest event was stored that has no position yet. */
  oldestUnpublished(): Promise<Instant | undefined>;
  /**
   * Deletes the oldest events up to the first one that was stored after that instant, so that no gap is left behind.
   * Returns their number.
   */
  purge(until: Instant): Promise<number>;
}
