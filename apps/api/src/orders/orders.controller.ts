import {
  type Condition,
  DEFAULT_ORDER_LIMIT,
  EndOrder,
  GetOrder,
  ListOrders,
  type ListOrdersInput,
  type Order,
  ORDER_STATUSES,
  type OrderEnd,
  type OrderStatus,
  PlaceOrder,
} from '@adoption-store/domain';
import { Turns } from '@adoption-store/infrastructure/turns';
import { queryOf } from '@adoption-store/web/edge';
import { Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/answers/api-context.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { Conditions } from '../http/operations/conditions.js';
import { JsonBody } from '../http/operations/json-body.decorator.js';
import { Operation } from '../http/operations/operation.js';
import { presentPage, sendPage } from '../http/operations/pages.js';
import { Cursor, Limit, OneOf } from '../http/operations/query-parameters.js';
import { page } from '../http/operations/schema.js';
import { ValidQuery } from '../http/operations/valid-query.decorator.js';
import {
  ENDED,
  NEW_ORDER,
  NewOrderBody,
  OrderId,
  orderJson,
  PLACED,
  presentOrder,
  presentOrders,
} from './order.schema.js';

const CURSOR = 'orders';

/** The query of GET /v1/store/orders. Each parameter may occur once. */
export class ListOrdersQuery implements Omit<ListOrdersInput, 'accountId'> {
  @Limit()
  limit?: number;

  @OneOf('status', ORDER_STATUSES, 'Only orders with this status.', 'OrderStatus')
  status?: OrderStatus;

  @Cursor(CURSOR)
  after?: bigint;
}

@Controller()
export class OrdersController {
  constructor(
    private readonly context: ApiContext,
    private readonly turns: Turns,
    private readonly idempotency: Idempotency,
    private readonly listOrders: ListOrders,
    private readonly placeOrder: PlaceOrder,
    private readonly getOrder: GetOrder,
    private readonly endOrder: EndOrder,
  ) {}

  @Operation('GET /v1/store/orders', {
    id: 'listOrders',
    scope: 'orders:read',
    stability: 'beta',
    summary: 'List orders',
    description: "Lists the account's orders by their identifiers, ascending. Pages work as for animals.",
    success: { 200: ['A page of orders.', page('Order', PLACED)] },
  })
  async list(
    @ValidQuery(ListOrdersQuery) { limit, status, after }: ListOrdersQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { account } = request.caller;
    const input = { accountId: account.id, limit, status, after };
    const { items, next } = await this.turns.reads.run(account, () => this.listOrders.execute(input));
    const shown = presentPage(CURSOR, queryOf(request.url), presentOrders(items), next);
    return sendPage(request, reply, this.context.origin(request), shown);
  }

  @Operation('POST /v1/store/orders', {
    id: 'placeOrder',
    scope: 'orders:write',
    stability: 'beta',
    summary: 'Place an order',
    description:
      'Orders an animal, which becomes `pending`. Of concurrent requests for one animal one places the order; the others ' +
      'get 409 `pet_not_available`. An account at its limit of placed orders, ' +
      `${DEFAULT_ORDER_LIMIT} by default, gets 409 \`too_many_orders\`.`,
    examples: { 'an order': NEW_ORDER },
    success: { 201: ['The order has been placed.', orderJson(PLACED)] },
    refusals: [404],
  })
  async place(
    @JsonBody(NewOrderBody) { petId }: NewOrderBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.idempotency.once(request, reply, async (transaction) => {
      const input = { accountId: request.caller.account.id, animalId: petId };
      const order = await this.placeOrder.execute(input, transaction);
      return { body: presentOrder(order), location: `${this.context.origin(request)}/v1/store/orders/${order.id}` };
    });
  }

  @Operation('GET /v1/store/orders/{orderId}', {
    id: 'getOrder',
    scope: 'orders:read',
    stability: 'beta',
    summary: 'Get an order',
    description: "Gets one of the account's orders.",
    success: { 200: ['The order.', orderJson(PLACED)] },
    refusals: [404],
  })
  async get(@OrderId() id: bigint, @Req() { caller }: FastifyRequest): Promise<string> {
    const { account } = caller;
    return presentOrder(
      await this.turns.reads.run(account, () => this.getOrder.execute({ accountId: account.id, id })),
    );
  }

  @Operation('POST /v1/store/orders/{orderId}/complete', {
    id: 'completeOrder',
    scope: ['orders:write', 'pets:manage'],
    stability: 'beta',
    summary: 'Complete an order',
    description: 'The animal becomes `sold`, for good. The operator may complete the order too.',
    success: { 200: ['The order is completed.', orderJson({ ...ENDED, status: 'completed' })] },
    refusals: [404],
  })
  async complete(
    @OrderId() id: bigint,
    @Conditions(presentOrder) condition: Condition<Order> | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.end(request, reply, { id, condition, outcome: 'completed' });
  }

  @Operation('POST /v1/store/orders/{orderId}/cancel', {
    id: 'cancelOrder',
    scope: 'orders:write',
    stability: 'beta',
    summary: 'Cancel an order',
    description: 'The animal becomes `available` again. The operator may cancel the order too.',
    success: { 200: ['The order is cancelled.', orderJson({ ...ENDED, status: 'cancelled' })] },
    refusals: [404],
  })
  async cancel(
    @OrderId() id: bigint,
    @Conditions(presentOrder) condition: Condition<Order> | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.end(request, reply, { id, condition, outcome: 'cancelled' });
  }

  private end(request: FastifyRequest, reply: FastifyReply, end: Omit<OrderEnd, 'by'>): Promise<string> {
    const by = request.caller.account.id;
    return this.idempotency.once(request, reply, async (transaction) => ({
      body: presentOrder(await this.endOrder.execute({ ...end, by }, transaction)),
    }));
  }
}
