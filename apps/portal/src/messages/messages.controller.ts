import {
  type Account,
  type AccountId,
  GetMessage,
  instant,
  type MessageId,
  type MessagePosition,
  ListMessages,
  type PageRequest,
  searchKey,
} from '@adoption-store/domain';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { SignedIn } from '../http/decorators.js';
import { EMPTY_PAGE, List, searchNewest, searchText } from '../http/lists.js';
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
    const list = listOf(query);
    const found = await this.found(accountId, list);
    const paging = list.paging(found, ({ createdAt, id }) => `${createdAt}-${id}`);
    return page('messages', { messages: found.items, filter: list.filter, paging });
  }

  private async found(accountId: AccountId, list: ReturnType<typeof listOf>) {
    if (list.wanted === undefined) return EMPTY_PAGE;
    const { find } = list.wanted;
    if (find === undefined) return this.listMessages.execute({ accountId, ...list.position(messagePosition) });
    const wanted = searchKey(find);
    return searchNewest(
      (part: PageRequest<MessagePosition>) => this.listMessages.execute({ accountId, ...part }),
      async (messages) => messages.filter(({ id, text }) => id === find || searchKey(text).includes(wanted)),
    );
  }

  @Get(':id')
  async showOne(@SignedIn() { id: accountId }: Account, @Param('id') id: string): Promise<Answer> {
    return page('message', { message: await this.getMessage.execute({ accountId, id }) });
  }
}

function listOf(query: unknown) {
  return new List('/messages', query, { find: searchText }, { find: 'Text or id' });
}

/** A time and an id, such as `1764892800000-msg_…`. */
function messagePosition(text: string): MessagePosition | undefined {
  const [, time, id] = /^(\d{1,14})-(msg_\w{1,64})$/.exec(text) ?? [];
  return time === undefined || id === undefined ? undefined : { createdAt: instant(Number(time)), id: id as MessageId };
}
