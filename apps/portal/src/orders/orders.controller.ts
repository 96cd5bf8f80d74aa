import { type Account, ListAnimals, ListOrders, ORDER_STATUSES, int64From } from '@adoption-store/domain';
import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { address, EMPTY_PAGE, filterFrom, oneOf, pagingOf, placeFrom } from '../http/lists.js';
import { Pages, REFUSED } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';
import { viewHelpers } from '../view-helpers.js';

/** The account's orders, to read: they are placed and ended by the API. */
@Controller('orders')
export class OrdersController {
  constructor(
    private readonly pages: Pages,
    private readonly listOrders: ListOrders,
    private readonly listAnimals: ListAnimals,
  ) {}

  @Get()
  async show(
    @Res() reply: FastifyReply,
    @SignedIn() { id: accountId }: Account,
    @Query() query: unknown,
  ): Promise<void> {
    const filter = filterFrom(query, { status: oneOf('status', ORDER_STATUSES) });
    const place = placeFrom(query, int64From);
    const status = filter.wanted?.status;
    const page =
      filter.wanted === undefined
        ? EMPTY_PAGE
        : await this.listOrders.execute({ accountId, status, first: 'newest', ...place });
    const { items: animals } = await this.listAnimals.execute({ ids: page.items.map(({ animalId }) => animalId) });
    const tabs = [undefined, ...ORDER_STATUSES].map((each) => ({
      name: each === undefined ? 'All' : viewHelpers.capitalised(each),
      address: address('/orders', { status: each }),
      isCurrent: filter.wanted !== undefined && each === status,
    }));
    await this.pages.show(
      reply,
      'orders',
      {
        orders: page.items,
        names: new Map(animals.map(({ id, name }) => [id, name])),
        filter: filter.form,
        tabs,
        paging: pagingOf('/orders', { status }, place, page),
      },
      filter.wanted === undefined ? REFUSED : 200,
    );
  }
}
