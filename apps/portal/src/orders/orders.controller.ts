import {
  type Account,
  type AnimalId,
  EndOrder,
  GetOrder,
  hasScopes,
  int64From,
  ListAnimals,
  ListOrders,
  MAX_PAGE_SIZE,
  type Order,
  ORDER_STATUSES,
  type PageRequest,
  requireScopes,
  searchKey,
} from '@adoption-store/domain';
import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { SignedIn } from '../http/decorators.js';
import { formOf } from '../http/forms.js';
import { EMPTY_PAGE, Id, List, oneOf, searchNewest, searchText } from '../http/lists.js';
import { type Answer, page, redirect } from '../http/pages.js';

// What a key of the account needs for the same.
const TO_CANCEL = ['orders:write'] as const;
const TO_COMPLETE = ['orders:write', 'pets:manage'] as const;

class EndForm extends formOf({}) {}

/** The account's orders. The API places them. */
@Controller('orders')
export class OrdersController {
  constructor(
    private readonly listOrders: ListOrders,
    private readonly getOrder: GetOrder,
    private readonly endOrder: EndOrder,
    private readonly listAnimals: ListAnimals,
  ) {}

  @Get()
  async show(@SignedIn() account: Account, @Query() query: unknown): Promise<Answer> {
    const list = listOf(query);
    const found = await this.found(account, list);
    const orders = found.items;
    return page('orders', {
      orders,
      names: await this.namesOf(orders),
      filter: list.filter,
      tabs: list.tabs('status', [undefined, ...ORDER_STATUSES]),
      paging: list.paging(found),
    });
  }

  @Get(':id')
  async showOne(@SignedIn() account: Account, @Id() id: bigint): Promise<Answer> {
    return this.showOrder(account, id, new EndForm());
  }

  @Post(':id/complete')
  async complete(@SignedIn() account: Account, @Id() id: bigint, @Body() form: EndForm): Promise<Answer> {
    requireScopes({ account }, TO_COMPLETE);
    try {
      await this.endOrder.execute({ by: account.id, id, outcome: 'completed' });
    } catch (error) {
      return this.showOrder(account, id, form.refused(error));
    }
    return redirect(`/orders/${id}`, 'order-completed');
  }

  @Post(':id/cancel')
  async cancel(@SignedIn() account: Account, @Id() id: bigint, @Body() form: EndForm): Promise<Answer> {
    requireScopes({ account }, TO_CANCEL);
    try {
      await this.endOrder.execute({ by: account.id, id, outcome: 'cancelled' });
    } catch (error) {
      return this.showOrder(account, id, form.refused(error));
    }
    return redirect(`/orders/${id}`, 'order-cancelled');
  }

  private async showOrder(account: Account, id: bigint, form: EndForm): Promise<Answer> {
    const order = await this.getOrder.execute({ accountId: account.id, id });
    const { items } = await this.listAnimals.execute({ ids: [order.animalId] });
    const mayCancel = hasScopes({ account }, TO_CANCEL);
    const mayComplete = hasScopes({ account }, TO_COMPLETE);
    return page('order', { form, order, animal: items[0], mayCancel, mayComplete });
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
