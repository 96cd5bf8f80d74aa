import {
  type Account,
  GetMessage,
  instant,
  type MessageId,
  type MessagePosition,
  ListMessages,
} from '@adoption-store/domain';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { SignedIn } from '../http/decorators.js';
import { List } from '../http/lists.js';
import { type Answer, page } from '../http/pages.js';

/** The account's messages to the store. They can only be read here: the API sends them. */
@Controller('messages')
export class MessagesController {
  constructor(
    private readonly listMessages: ListMessages,
    private readonly getMessage: GetMessage,
  ) {}

  @Get()
  async show(@SignedIn() { id: accountId }: Account, @Query() query: unknown): Promise<Answer> {
    const list = new List('/messages', query, {});
    const found = await this.listMessages.execute({ accountId, ...list.position(messagePosition) });
    const paging = list.paging(found, ({ createdAt, id }) => `${createdAt}-${id}`);
    return page('messages', { messages: found.items, paging });
  }

  @Get(':id')
  async showOne(@SignedIn() { id: accountId }: Account, @Param('id') id: string): Promise<Answer> {
    return page('message', { message: await this.getMessage.execute({ accountId, id }) });
  }
}

/** A time and an id, such as `1764892800000-msg_…`. */
function messagePosition(text: string): MessagePosition | undefined {
  const [, time, id] = /^(\d{1,14})-(msg_\w{1,64})$/.exec(text) ?? [];
  return time === undefined || id === undefined ? undefined : { createdAt: instant(Number(time)), id: id as MessageId };
}
