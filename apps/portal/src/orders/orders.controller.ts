import {
  type Account,
  type AnimalId,
  hasScopes,
  int64From,
  ListAnimals,
  ListOrders,
  MAX_PAGE_SIZE,
  type Order,
  type PageRequest,
  ORDER_STATUSES,
  searchKey,
} from '@adoption-store/domain';
import { Controller, Get, Query } from '@nestjs/common';
import { SignedIn } from '../http/decorators.js';
import { EMPTY_PAGE, List, oneOf, searchNewest, searchText } from '../http/lists.js';
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
    const list = listOf(query);
    const found = await this.found(account, list);
    const orders = found.items;
    return page('orders', {
      orders,
      mayComplete: hasScopes({ account }, TO_COMPLETE),
      names: await this.namesOf(orders),
      filter: list.filter,
      tabs: list.tabs('status', [undefined, ...ORDER_STATUSES]),
      paging: list.paging(found),
    });
  }
  private async found({ id: accountId }: Account, list: ReturnType<typeof listOf>) {
    if (list.wanted === undefined) return EMPTY_PAGE;
    const { status, find } = list.wanted;
    const newest = { accountId, status, first: 'newest' } as const;
    if (find === undefined) return this.listOrders.execute({ ...newest, ...list.position(int64From) });
    const wanted = searchKey(find);
    return searchNewest(
      (part: PageRequest<bigint>) => this.listOrders.execute({ ...newest, ...part }),
      async (orders) => {
        const names = await this.namesOf(orders);
        return orders.filter(({ id, animalId }) => {
          const numbers = [String(id), String(animalId)];
          return numbers.includes(find) || searchKey(names.get(animalId) ?? '').includes(wanted);
        });
      },
    );
  }

  private async namesOf(orders: readonly Order[]): Promise<ReadonlyMap<AnimalId, string>> {
    const ids = [...new Set(orders.map(({ animalId }) => animalId))];
    const { items } = await this.listAnimals.execute({ ids, limit: MAX_PAGE_SIZE });
    return new Map(items.map(({ id, name }) => [id, name]));
  }
}

function listOf(query: unknown) {
  const checks = { status: oneOf(ORDER_STATUSES), find: searchText };
  return new List('/orders', query, checks, { find: 'Animal, its id or order' });
}
