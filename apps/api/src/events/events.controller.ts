import {
  EVENT_TYPES,
  type EventCursor,
  type EventType,
  ListEvents,
  type ListEventsInput,
} from '@adoption-store/domain';
import { Turns } from '@adoption-store/infrastructure/turns';
import { queryOf } from '@adoption-store/web/edge';
import { Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/answers/api-context.js';
import { Operation } from '../http/operations/operation.js';
import { presentPage, sendPage } from '../http/operations/pages.js';
import { Cursor, Limit, OneOf, SomeOf } from '../http/operations/query-parameters.js';
import { page } from '../http/operations/schema.js';
import { ValidQuery } from '../http/operations/valid-query.decorator.js';
import { eventCursorText, readEventCursor, ADDED_EVENT, PLACED_EVENT, presentEvents } from './event.schema.js';

const CURSOR = 'events';

/** The query of GET /v1/events. Each parameter may occur once, except `type`. `from` excludes `cursor`. */
export class ListEventsQuery implements Omit<ListEventsInput, 'accountId'> {
  @Limit()
  limit?: number;

  @SomeOf('type', EVENT_TYPES, 'Only events of these types.', 'EventType')
  types?: EventType[];

  @OneOf('from', ['now'], 'Begins with what happens from now on, with an empty page. Not with `cursor`.', 'EventStart')
  from?: 'now';

  @Cursor(CURSOR, readEventCursor)
  after?: EventCursor;
}

@Controller()
export class EventsController {
  constructor(
    private readonly context: ApiContext,
    private readonly turns: Turns,
    private readonly listEvents: ListEvents,
  ) {}

  @Operation('GET /v1/events', {
    id: 'listEvents',
    scope: 'events:read',
    stability: 'experimental',
    summary: 'List events',
    description:
      "Lists what has happened, the oldest first: every account's events of animals, and the account's own of orders and " +
      'messages. Without a cursor it begins with the oldest event that is kept, with `from=now` behind the last one. Every ' +
      'page has a `Link` to the next one, also the last page: send the same request again later to go on there. A client ' +
      'that follows it gets each event exactly once. A cursor of events that are no longer kept, or that a restore of the ' +
      'database has undone, is 410 `cursor_expired`. To keep a copy of a list, begin with `from=now`, then list all, then go ' +
      'on from the `Link`.',
    success: { 200: ['A page of events.', page('Event', ADDED_EVENT, PLACED_EVENT)] },
    refusals: [410],
  })
  async list(
    @ValidQuery(ListEventsQuery) query: ListEventsQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { account } = request.caller;
    const { limit, types, from, after } = query;
    const input = { accountId: account.id, limit, types, from, after };
    const { events, next } = await this.turns.events.run(account, () => this.listEvents.execute(input));
    const shown = presentPage(CURSOR, queryOf(request.url), presentEvents(events), eventCursorText(next));
    return sendPage(request, reply, this.context.origin(request), shown);
  }
}
