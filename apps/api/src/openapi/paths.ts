import { MAX_IDS } from '@adoption-store/domain';
import { deprecationHeaders, getPetDeprecation } from '../stability/deprecation.js';
import { type StabilityLevel, stabilityOf } from '../stability/stability.js';
import { QUEUED } from '../messages/message.schema.js';
import { MessagesController } from '../messages/messages.controller.js';
import { LUNA } from '../pets/pet.schema.js';
import { PLACED } from '../store/order.schema.js';
import { StoreOrdersController } from '../store/store-orders.controller.js';
import { refusal, refusals } from './errors.js';
import { type HeaderName, withHeaders } from './headers.js';
import { parameter, parameterIn } from './parameters.js';
import { NOBODY_BANNED } from './rate-limit.js';
import { type Described, json, schemaRef } from './schema.js';

/** An operation's name, texts and marks, as the description has them, and what its parameters and answers are made of. */
interface Operation extends Described {
  /** Before those of every operation. */
  readonly parameters?: readonly Described[];
  readonly body?: Described;
  /** 200 unless it is given. The others tell the address of what was made. */
  readonly status?: 201 | 202;
  readonly success: readonly [description: string, content: Described];
  readonly headers?: Described;
  /** Beside those of every operation. */
  readonly refusals?: Described;
}

/** Describes operations of a tag, all equally settled. */
function operations(tag: string, stability?: StabilityLevel) {
  function described(own: Operation, taken: readonly Described[], told: readonly HeaderName[]): Described {
    const { parameters = [], body, status, success, headers, refusals: others, ...marks } = own;
    const [description, content] = success;
    const names: HeaderName[] = stability === undefined ? [] : ['X-Stability'];
    if (status !== undefined) names.push('Location');
    return {
      ...marks,
      tags: [tag],
      'x-stability': stability,
      parameters: [...parameters, ...taken, parameter('RequestId')],
      requestBody: body && { required: true, content: body },
      responses: {
        [status ?? 200]: { description, headers: { ...headers, ...withHeaders(...names, ...told) }, content },
        ...refusals(),
        ...others,
      },
    };
  }
  return {
    get: (own: Operation) => described(own, [], []),
    post: (own: Operation) => described(own, [parameter('IdempotencyKey')], ['Idempotent-Replayed']),
  };
}

const pets = operations('Pets');
const orders = operations('Store', stabilityOf(StoreOrdersController));
const messages = operations('Messages', stabilityOf(MessagesController));

const page = (schema: string, ...items: readonly Described[]): Described =>
  json({ type: 'array', items: schemaRef(schema) }, { page: items, 'nothing found': [] });
const animal = (example: Described): Described => json(schemaRef('Pet'), { 'the animal': example });
const order = (example: Described): Described => json(schemaRef('Order'), { 'the order': example });
const message = (example: Described): Described => json(schemaRef('Message'), { 'the message': example });

const { deprecation, sunset } = deprecationHeaders(getPetDeprecation);
const sunsetDate = new Date(getPetDeprecation.sunset);

/** The headers that announce the end of getPet; its own errors carry them too. */
const notice: Described = {
  Deprecation: {
    description: 'Since when the operation is deprecated (RFC 9745).',
    schema: { type: 'string', const: deprecation },
  },
  Sunset: { description: 'When the operation is removed (RFC 8594).', schema: { type: 'string', const: sunset } },
  Link: {
    description: 'What replaces the operation (`rel="successor-version"`), and this page (`rel="deprecation"`).',
    schema: {
      type: 'string',
      pattern: '^<[^>]+>; rel="successor-version", <[^>]+>; rel="deprecation"; type="text/html"$',
      examples: [
        '<https://api.adoption-store.example/v1/pets?id=1>; rel="successor-version", ' +
          '<https://api.adoption-store.example/docs>; rel="deprecation"; type="text/html"',
      ],
    },
  },
};

const endOrder = (operationId: string, summary: string, description: string, status: string): Described =>
  orders.post({
    operationId,
    summary,
    description,
    parameters: [parameter('OrderId')],
    success: [`The order is ${status}.`, order({ ...PLACED, status, updatedAt: '2026-11-22T09:30:00.000Z' })],
    refusals: refusals(404, 409),
  });

export const paths: Described = {
  '/pets': {
    get: pets.get({
      operationId: 'listPets',
      summary: 'List animals',
      description:
        'Lists animals by their identifiers, ascending. The next page is at the address in the `Link` header, for as long ' +
        'as there is one.',
      parameters: [
        parameter('Limit'),
        parameterIn('query', 'status', 'Only animals with this status.', schemaRef('PetStatus')),
        {
          name: 'id',
          in: 'query',
          description: `Only these animals; repeat it for more than one, up to ${MAX_IDS} times. Unknown ones are just not there.`,
          style: 'form',
          explode: true,
          schema: { type: 'array', maxItems: MAX_IDS, items: { type: 'integer', format: 'int64' } },
        },
        parameter('Cursor'),
      ],
      success: ['A page of animals.', page('Pet', LUNA, { ...LUNA, id: 2, name: 'Milo' })],
      headers: withHeaders('Link'),
    }),
    post: pets.post({
      operationId: 'createPet',
      summary: 'Add an animal',
      description: 'Adds an animal. Any status may be given; properties that are not listed here are ignored.',
      body: json(schemaRef('NewPet'), {
        'an animal': { name: 'Bella', categoryId: 1 },
        'with its status': { name: 'Bella', categoryId: 1, status: 'pending' },
      }),
      status: 201,
      success: ['The animal has been added.', animal({ ...LUNA, id: 6, name: 'Bella' })],
    }),
  },
  '/pets/{petId}': {
    get: pets.get({
      operationId: 'getPet',
      summary: 'Get an animal',
      description:
        `Deprecated: it is removed on ${sunsetDate.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })} ` +
        'and answers 410 from then on. List the animals by `status` instead, or one of them by `id`: ' +
        '`GET /pets?status=available`, `GET /pets?id=1`.',
      deprecated: true,
      'x-deprecated-sunset': sunsetDate.toISOString().slice(0, 10),
      parameters: [parameterIn('path', 'petId', 'Identifier of the animal.', { type: 'integer', format: 'int64' })],
      success: ['The animal.', animal(LUNA)],
      headers: { ...withHeaders(), ...notice },
      refusals: Object.fromEntries(([404, 410, 500, 503] as const).map((status) => [status, refusal(status, notice)])),
    }),
  },
  '/store/orders': {
    get: orders.get({
      operationId: 'listOrders',
      summary: 'List orders',
      description: "Lists the account's orders by their identifiers, ascending. Pages are as those of the animals.",
      parameters: [
        parameter('Limit'),
        parameterIn('query', 'status', 'Only orders with this status.', schemaRef('OrderStatus')),
        parameter('Cursor'),
      ],
      success: ['A page of orders.', page('Order', PLACED)],
      headers: withHeaders('Link'),
    }),
    post: orders.post({
      operationId: 'placeOrder',
      summary: 'Place an order',
      description:
        'Orders an animal, which turns `pending`. However many ask for it at once, one order is placed; the others get ' +
        '409 `pet_not_available`. An account that has as many orders placed as it may, 100 unless the service is set ' +
        'otherwise, gets 409 `too_many_orders`.',
      body: json(schemaRef('NewOrder'), { 'an order': { petId: 1 } }),
      status: 201,
      success: ['The order has been placed.', order(PLACED)],
      refusals: refusals(404, 409),
    }),
  },
  '/store/orders/{orderId}': {
    get: orders.get({
      operationId: 'getOrder',
      summary: 'Get an order',
      description: "Gets one of the account's orders.",
      parameters: [parameter('OrderId')],
      success: ['The order.', order(PLACED)],
      refusals: refusals(404),
    }),
  },
  '/store/orders/{orderId}/complete': {
    post: endOrder('completeOrder', 'Complete an order', 'The animal is adopted, and `sold`.', 'completed'),
  },
  '/store/orders/{orderId}/cancel': {
    post: endOrder('cancelOrder', 'Cancel an order', 'The animal is `available` again.', 'cancelled'),
  },
  '/messages': {
    post: messages.post({
      operationId: 'queueMessage',
      summary: 'Send a message',
      description: 'Queues a message to the store. It is delivered soon after, at least once.',
      body: json(schemaRef('NewMessage'), { 'a message': { message: QUEUED.message } }),
      status: 202,
      success: ['The message has been queued.', message(QUEUED)],
    }),
  },
  '/messages/{messageId}': {
    get: messages.get({
      operationId: 'getMessage',
      summary: 'Get a message',
      description: "Gets one of the account's messages, to see whether it has been sent.",
      parameters: [parameterIn('path', 'messageId', 'Identifier of the message.', { type: 'string' })],
      success: ['The message.', message({ ...QUEUED, status: 'sent' })],
      refusals: refusals(404),
    }),
  },
  '/rate_limit': {
    get: operations('Limits').get({
      operationId: 'getRateLimit',
      summary: 'Get how you stand',
      description:
        'Tells the plan and what is left of it. It costs no quota, and answers also where none is left; ' +
        'a key may ask 60 times a minute.',
      success: [
        'How the caller stands.',
        json(schemaRef('RateLimit'), {
          'room left': NOBODY_BANNED,
          banned: { ...NOBODY_BANNED, ban: { until: 1_795_262_700 } },
        }),
      ],
    }),
  },
};
