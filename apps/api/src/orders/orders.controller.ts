import { CancelOrder, CompleteOrder, GetOrder, ListOrders, PlaceOrder } from '@adoption-store/domain';
import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/api-context.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { addPageHeaders } from '../http/pages.js';
import { Stability } from '../http/stability.js';
import { ValidQuery } from '../http/valid-query.decorator.js';
import { pathId } from '../http/validation.js';
import { RequiresScope } from '../http/required-scope.js';
import { ListOrdersQuery, ORDERS_CURSOR } from './list-orders.query.js';
import { NewOrderBody } from './new-order.body.js';
import { presentOrder, presentOrders } from './present-order.js';

const ORDER_ID = pathId('orderId');

@Controller('v1/store/orders')
@Stability('beta')
export class OrdersController {
  constructor(
    private readonly context: ApiContext,
    private readonly idempotency: Idempotency,
    private readonly listOrders: ListOrders,
    private readonly placeOrder: PlaceOrder,
    private readonly getOrder: GetOrder,
    private readonly completeOrder: CompleteOrder,
    private readonly cancelOrder: CancelOrder,
  ) {}

  @Get()
  @RequiresScope('orders:read')
  async list(
    @ValidQuery(ListOrdersQuery) query: ListOrdersQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { limit, status, after } = query;
    const accountId = request.caller.account.id;
    const { items, next } = await this.listOrders.execute({ accountId, limit, status, after });
    const body = presentOrders(items);
    addPageHeaders(request, reply, { address: this.url(request), query, resource: ORDERS_CURSOR, body, next });
    return body;
  }

  @Post()
  @RequiresScope('orders:write')
  async place(
    @JsonBody(NewOrderBody) { petId }: NewOrderBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.idempotency.once(request, reply, async (transaction) => {
      const input = { accountId: request.caller.account.id, animalId: petId };
      const order = await this.placeOrder.execute(input, transaction);
      return { body: presentOrder(order), location: `${this.url(request)}/${order.id}` };
    });
  }

  @Get(':orderId')
  @RequiresScope('orders:read')
  async get(@Param('orderId', ORDER_ID) id: bigint, @Req() { caller }: FastifyRequest): Promise<string> {
    return presentOrder(await this.getOrder.execute({ accountId: caller.account.id, id }));
  }

  @Post(':orderId/complete')
  @HttpCode(200)
  @RequiresScope('orders:write')
  async complete(
    @Param('orderId', ORDER_ID) id: bigint,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.idempotency.once(request, reply, async (transaction) => ({
      body: presentOrder(await this.completeOrder.execute({ accountId: request.caller.account.id, id }, transaction)),
    }));
  }

  @Post(':orderId/cancel')
  @HttpCode(200)
  @RequiresScope('orders:write')
  async cancel(
    @Param('orderId', ORDER_ID) id: bigint,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.idempotency.once(request, reply, async (transaction) => ({
      body: presentOrder(await this.cancelOrder.execute({ accountId: request.caller.account.id, id }, transaction)),
    }));
  }

  private url(request: FastifyRequest): string {
    return `${this.context.origin(request)}/v1/store/orders`;
  }
}
