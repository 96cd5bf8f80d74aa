import { type Account, hasScopes, ListAnimals, ListOrders, ORDER_STATUSES, int64From } from '@adoption-store/domain';
import { Controller, Get, Query } from '@nestjs/common';
import { SignedIn } from '../http/decorators.js';
import { EMPTY_PAGE, List, oneOf } from '../http/lists.js';
import { type Answer, page } from '../http/pages.js';

/** The keys of an account with these scopes complete its orders. */
const TO_COMPLETE = ['orders:write', 'pets:manage'] as const;

/** The account's orders. They can only be read here: the API places and ends them. */
@Controller('orders')
export class OrdersController {
  constructor(
    private readonly listOrders: ListOrders,
    private readonly listAnimals: ListAnimals,
  ) {}

  @Get()
  async show(@SignedIn() account: Account, @Query() query: unknown): Promise<Answer> {
    const list = new List('/orders', query, { status: oneOf(ORDER_STATUSES) });
    const newest = { accountId: account.id, first: 'newest' } as const;
    const found =
      list.wanted === undefined
        ? EMPTY_PAGE
        : await this.listOrders.execute({ ...newest, ...list.wanted, ...list.position(int64From) });
    const orders = found.items;
    const { items: animals } = await this.listAnimals.execute({ ids: orders.map(({ animalId }) => animalId) });
    return page('orders', {
      orders,
      mayComplete: hasScopes({ account }, TO_COMPLETE),
      names: new Map(animals.map(({ id, name }) => [id, name])),
      filter: list.filter,
      tabs: list.tabs('status', [undefined, ...ORDER_STATUSES]),
      paging: list.paging(found),
    });
  }
}
