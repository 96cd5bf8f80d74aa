import { type Account, ListAnimals, ListOrders, ORDER_STATUSES, int64From } from '@adoption-store/domain';
import { Controller, Get, Query } from '@nestjs/common';
import { address, EMPTY_PAGE, filterFrom, oneOf, pagingOf, placeFrom } from '../http/lists.js';
import { type Answer, page } from '../http/pages.js';
import { SignedIn } from '../http/signed-in.guard.js';
import { viewHelpers } from '../view-helpers.js';

/** The account's orders, to read: they are placed and ended by the API. */
@Controller('orders')
export class OrdersController {
  constructor(
    private readonly listOrders: ListOrders,
    private readonly listAnimals: ListAnimals,
  ) {}

  @Get()
  async show(@SignedIn() { id: accountId }: Account, @Query() query: unknown): Promise<Answer> {
    const filter = filterFrom(query, { status: oneOf(ORDER_STATUSES) });
    const place = placeFrom(query, int64From);
    const status = filter.wanted?.status;
    const { items: orders, ...around } =
      filter.wanted === undefined
        ? EMPTY_PAGE
        : await this.listOrders.execute({ accountId, status, first: 'newest', ...place });
    const { items: animals } = await this.listAnimals.execute({ ids: orders.map(({ animalId }) => animalId) });
    return page('orders', {
      orders,
      names: new Map(animals.map(({ id, name }) => [id, name])),
      filter: filter.form,
      tabs: [undefined, ...ORDER_STATUSES].map((each) => ({
        name: each === undefined ? 'All' : viewHelpers.capitalised(each),
        address: address('/orders', { status: each }),
        isCurrent: filter.wanted !== undefined && each === status,
      })),
      paging: pagingOf('/orders', { status }, place, around),
    });
  }
}
