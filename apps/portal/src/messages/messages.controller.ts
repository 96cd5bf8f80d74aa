import {
  type Account,
  GetMessage,
  instant,
  type MessageId,
  type MessagePlace,
  ShowMessages,
} from '@adoption-store/domain';
import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { pagingOf, placeFrom } from '../http/lists.js';
import { Pages } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';

/** The account's own messages to the store, to read: the API sends them. */
@Controller('messages')
export class MessagesController {
  constructor(
    private readonly pages: Pages,
    private readonly shownMessages: ShowMessages,
    private readonly getMessage: GetMessage,
  ) {}

  @Get()
  async show(
    @Res() reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
    @Query() query: unknown,
  ): Promise<void> {
    const place = placeFrom(query, messagePlace);
    const page = await this.shownMessages.execute({ accountId, ...place });
    const paging = pagingOf('/messages', {}, place, page, ({ createdAt, id }) => `${createdAt}-${id}`);
    await this.pages.show(reply, 'messages', { messages: page.items, paging });
  }

  @Get(':id')
  async showOne(
    @Res() reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
    @Param('id') id: string,
  ): Promise<void> {
    const message = await this.getMessage.execute({ accountId, id });
    await this.pages.show(reply, 'message', { message });
  }
}

/** A time and an id, such as `1764892800000-msg_…`. */
function messagePlace(text: string): MessagePlace | undefined {
  const [, time, id] = /^(\d{1,14})-(msg_\w{1,64})$/.exec(text) ?? [];
  return time === undefined || id === undefined ? undefined : { createdAt: instant(Number(time)), id: id as MessageId };
}
