import type { AccountId } from '../accounts/account.js';
import type { Instant } from '../kernel/clock.js';
import { invalid, ours } from '../kernel/errors.js';
import { DEFAULT_PAGE_SIZE, requirePageSize } from '../kernel/page.js';
import {
  cursorExpired,
  cursorOf,
  EVENT_TYPES,
  type EventCursor,
  type EventType,
  type PublishedEvent,
} from './event.js';
import type { EventPage } from './event-feed.js';
import type { EventPorts } from './ports.js';

/** Events that are published in one transaction. */
const MOST_AT_ONCE = 1_000;
/** Milliseconds that a reader waits for others that publish. Then it gets what they have published. */
const READERS_WAIT = 100;

export interface ListEventsInput {
  readonly accountId: AccountId;
  /** Default: every type. */
  readonly types?: readonly EventType[] | undefined;
  /** The `next` of an earlier page. Default: begins with the oldest kept event. */
  readonly after?: EventCursor | undefined;
  /** Begins behind the last event that has a position, with an empty page. */
  readonly from?: 'now' | undefined;
  /** 1–100. Default: 20. */
  readonly limit?: number | undefined;
}

export interface EventsRead {
  /** Oldest first. */
  readonly events: readonly PublishedEvent[];
  /** Where the next page begins, also if this is the last one for now. */
  readonly next: EventCursor;
}

/** A page of the events that an account may see. A reader that follows `next` gets every event once. */
export class ListEvents {
  constructor(private readonly ports: EventPorts) {}

  /** @throws DomainError `invalid_parameter`, or `cursor_expired` if events behind `after` may be missing or undone. */
  async execute({ accountId, types, after, from, limit = DEFAULT_PAGE_SIZE }: ListEventsInput): Promise<EventsRead> {
    const { events, cryptography } = this.ports;
    requirePageSize(limit);
    if (from !== undefined && after !== undefined) throw invalid('from', ours`can't be given with cursor`);
    if (from !== undefined) return { events: [], next: cursorOf(await events.end(), cryptography) };
    const query = { accountId, types: types ?? EVENT_TYPES, after: after?.position, limit };
    let page = await events.list(query);
    if (page.hasUnpublished && page.events.length < limit) {
      // A caller that has changed something finds its event here, without waiting for the worker.
      await events.publish(MOST_AT_ONCE, READERS_WAIT);
      page = await events.list(query);
    }
    if (after !== undefined)
      requireKept(after, page, cursorOf({ position: after.position, id: page.start }, cryptography));
    const last = page.events.length === limit ? page.events.at(-1) : undefined;
    return { events: page.events, next: cursorOf(last ?? page.end, cryptography) };
  }
}

/** If the database was restored, the cursor's position is behind the end, or another event has it now. */
function requireKept({ position, hash }: EventCursor, { end, purged }: EventPage, now: EventCursor): void {
  if (position < purged || position > end.position || hash !== now.hash) throw cursorExpired();
}

/** Publishes stored events, in the order in which readers get them. */
export class PublishEvents {
  constructor(private readonly ports: EventPorts) {}

  async execute(): Promise<{ readonly mayHaveMore: boolean }> {
    // The port may publish fewer at once although there are more.
    return { mayHaveMore: (await this.ports.events.publish(MOST_AT_ONCE)) > 0 };
  }

  /** When the oldest event was stored that isn't published. */
  async backlog(): Promise<{ readonly oldest: Instant | undefined }> {
    return { oldest: await this.ports.events.oldestUnpublished() };
  }
}
