import {
  type Account,
  CancelOrder,
  CompleteOrder,
  GetOrder,
  hasScopes,
  int64From,
  ListAnimals,
  ListOrders,
  ORDER_STATUSES,
  requireScopes,
} from '@adoption-store/domain';
import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { SignedIn } from '../http/decorators.js';
import { formOf } from '../http/forms.js';
import { EMPTY_PAGE, Id, List, oneOf } from '../http/lists.js';
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
    private readonly completeOrder: CompleteOrder,
    private readonly cancelOrder: CancelOrder,
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
      names: new Map(animals.map(({ id, name }) => [id, name])),
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
      await this.completeOrder.execute({ accountId: account.id, id });
    } catch (error) {
      return this.showOrder(account, id, form.refused(error));
    }
    return redirect(`/orders/${id}`, 'order-completed');
  }

  @Post(':id/cancel')
  async cancel(@SignedIn() account: Account, @Id() id: bigint, @Body() form: EndForm): Promise<Answer> {
    requireScopes({ account }, TO_CANCEL);
    try {
      await this.cancelOrder.execute({ accountId: account.id, id });
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
}
