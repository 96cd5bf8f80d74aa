import { MAX_IDS } from '@adoption-store/domain';
import { getPetDeprecation } from '@adoption-store/web';
import type { Type } from '@nestjs/common';
import { CategoriesController } from '../categories/categories.controller.js';
import { CATS } from '../categories/category.schema.js';
import { deprecationHeaders } from '../http/deprecation.js';
import { type StabilityLevel, stabilityOf } from '../http/stability.js';
import { QUEUED } from '../messages/message.schema.js';
import { MessagesController } from '../messages/messages.controller.js';
import { AnimalChangesController } from '../animals/animal-changes.controller.js';
import { LUNA } from '../animals/animal.schema.js';
import { AnimalsController } from '../animals/animals.controller.js';
import { LimitsController } from '../limits/limits.controller.js';
import { requiredScope } from '../http/required-scope.js';
import { PLACED } from '../orders/order.schema.js';
import { OrdersController } from '../orders/orders.controller.js';
import { refusal, refusals } from './errors.js';
import { type HeaderName, withHeaders } from './headers.js';
import { parameter, parameterIn, pathId } from './parameters.js';
import { NOBODY_BANNED } from '../limits/rate-limit.schema.js';
import { type Described, json, mergePatch, schemaRef } from '../http/schema.js';

/** An operation's name, texts and labels, and the parts of its parameters and responses. */
interface Operation extends Described {
  /** Its scope is added. */
  readonly description: string;
  /** Placed before the common parameters. */
  readonly parameters?: readonly Described[];
  readonly body?: Described;
  /** Default: 200. With 201 and 202 the response has a Location header, with 204 no body. */
  readonly status?: 201 | 202 | 204;
  readonly success: readonly [description: string, content?: Described];
  readonly headers?: Described;
  /** Errors besides the common ones. */
  readonly refusals?: Described;
}

/** Describes the operations of one controller, as its decorators have them. */
function operations<Controller extends object>(tag: string, controller: Type<Controller>) {
  type Handler = keyof Controller & string;
  const stability = stabilityOf(controller);
  function described(
    handler: Handler,
    own: Operation,
    taken: readonly Described[],
    told: readonly HeaderName[],
  ): Described {
    const { description: text, parameters = [], body, status, success, headers, refusals: others, ...marks } = own;
    const scope = requiredScope((controller.prototype as Record<Handler, object>)[handler]);
    const [description, content] = success;
    const names: HeaderName[] = stability === undefined ? [] : ['X-Stability'];
    if (status === 201 || status === 202) names.push('Location');
    return {
      ...marks,
      description: `${text} ${scope === 'none' ? 'It needs no scope.' : `It needs the scope \`${scope}\`.`}`,
      tags: [tag],
      'x-stability': stability,
      security: scope === 'none' ? undefined : [{ bearerAuth: [scope] }],
      parameters: [...parameters, ...taken, parameter('RequestId')],
      requestBody: body && { required: true, content: body },
      responses: {
        [status ?? 200]: { description, headers: { ...headers, ...withHeaders(...names, ...told) }, content },
        ...refusals(...(scope === 'none' ? [] : ([403] as const))),
        ...others,
      },
    };
  }
  return {
    get: (handler: Handler, own: Operation) =>
      described(
        handler,
        { ...own, refusals: { 304: notModified(stability), ...own.refusals } },
        [parameter('IfNoneMatch')],
        ['ETag'],
      ),
    /** A GET whose response has no entity tag. */
    look: (handler: Handler, own: Operation) => described(handler, own, [], []),
    patch: (handler: Handler, own: Operation) => described(handler, own, [parameter('IfMatch')], ['ETag']),
    put: (handler: Handler, own: Operation) =>
      described(handler, own, [parameter('IfMatch'), parameter('IfNone')], ['ETag']),
    delete: (handler: Handler, own: Operation) => described(handler, own, [parameter('IfMatch')], []),
    post: (handler: Handler, own: Operation) =>
      described(
        handler,
        { ...own, refusals: { ...refusals(409), ...own.refusals } },
        [parameter('IdempotencyKey')],
        ['Idempotent-Replayed'],
      ),
  };
}

const notModified = (stability: StabilityLevel | undefined, own: Described = {}): Described => ({
  description: 'The response is still the one that `If-None-Match` names. It has no body.',
  headers: { ...withHeaders('ETag', ...(stability === undefined ? [] : (['X-Stability'] as const))), ...own },
});

const pets = operations('Pets', AnimalsController);
const petChanges = operations('Pets', AnimalChangesController);
const categories = operations('Categories', CategoriesController);
const orders = operations('Store', OrdersController);
const messages = operations('Messages', MessagesController);
const limits = operations('Limits', LimitsController);

const page = (schema: string, ...items: readonly Described[]): Described =>
  json({ type: 'array', items: schemaRef(schema) }, { page: items, 'nothing found': [] });
const animal = (example: Described): Described => json(schemaRef('Pet'), { 'the animal': example });
const category = (example: Described): Described => json(schemaRef('Category'), { 'the category': example });
const order = (example: Described): Described => json(schemaRef('Order'), { 'the order': example });
const message = (example: Described): Described => json(schemaRef('Message'), { 'the message': example });

const PET_ID = pathId('petId', 'Identifier of the animal.');

const { deprecation, sunset } = deprecationHeaders(getPetDeprecation);
const sunsetDate = new Date(getPetDeprecation.sunset);

/** The headers that announce the removal of getPet. Its errors have them too. */
const notice: Described = {
  Deprecation: {
    description: 'The date of the deprecation (RFC 9745).',
    schema: { type: 'string', const: deprecation, examples: [deprecation] },
  },
  Sunset: {
    description: 'The date of the removal (RFC 8594).',
    schema: { type: 'string', const: sunset, examples: [sunset] },
  },
  Link: {
    description:
      'The replacement of the operation (`rel="successor-version"`), and the reference page (`rel="deprecation"`).',
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

/** A query parameter that may be repeated. */
const ids = (name: string, meaning: string): Described => ({
  ...parameterIn(
    'query',
    name,
    `${meaning} Repeat the parameter for several, up to ${MAX_IDS} times. Unknown ids are left out.`,
    {
      type: 'array',
      maxItems: MAX_IDS,
      items: { type: 'integer', format: 'int64', examples: [1] },
      examples: [[1, 2]],
    },
  ),
  style: 'form',
  explode: true,
});

const endOrder = (handler: 'complete' | 'cancel', summary: string, description: string, status: string): Described =>
  orders.post(handler, {
    operationId: `${handler}Order`,
    summary,
    description,
    parameters: [parameter('OrderId')],
    success: [`The order is ${status}.`, order({ ...PLACED, status, updatedAt: '2026-11-22T09:30:00.000Z' })],
    refusals: refusals(404),
  });

export const paths: Described = {
  '/pets': {
    get: pets.get('list', {
      operationId: 'listPets',
      summary: 'List animals',
      description:
        'Lists animals by their identifiers, ascending. If there is another page, the `Link` header has its address.',
      parameters: [
        parameter('Limit'),
        parameterIn('query', 'status', 'Only animals with this status.', schemaRef('PetStatus')),
        ids('id', 'Only these animals.'),
        ids('categoryId', 'Only animals of these categories.'),
        parameter('Cursor'),
      ],
      success: ['A page of animals.', page('Pet', LUNA, { ...LUNA, id: 2, name: 'Milo' })],
      headers: withHeaders('Link'),
    }),
    post: pets.post('add', {
      operationId: 'createPet',
      summary: 'Add an animal',
      description: 'Adds an animal. Any status is allowed. Properties that are not listed here are ignored.',
      body: json(schemaRef('NewPet'), {
        'an animal': { name: 'Bella', categoryId: 1 },
        'with its status': { name: 'Bella', categoryId: 1, status: 'pending' },
      }),
      status: 201,
      success: ['The animal has been added.', animal({ ...LUNA, id: 6, name: 'Bella' })],
    }),
  },
  '/pets/{petId}': {
    get: pets.get('get', {
      operationId: 'getPet',
      summary: 'Get an animal',
      description:
        `Deprecated: it will be removed on ${sunsetDate.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })} ` +
        'and then answers 410. List animals by `status` or `id` instead: ' +
        '`GET /pets?status=available`, `GET /pets?id=1`.',
      deprecated: true,
      'x-deprecated-sunset': sunsetDate.toISOString().slice(0, 10),
      parameters: [PET_ID],
      success: ['The animal.', animal(LUNA)],
      headers: { ...withHeaders(), ...notice },
      refusals: {
        304: notModified(undefined, notice),
        ...Object.fromEntries(([404, 410, 500, 503] as const).map((status) => [status, refusal(status, notice)])),
      },
    }),
    patch: petChanges.patch('change', {
      operationId: 'changePet',
      summary: 'Change an animal',
      description:
        'Changes the given fields, as a JSON Merge Patch (RFC 7396); the others stay. The status can be changed from ' +
        '`available` to `pending` and back; another change is refused with 409 `invalid_transition`. While an order is ' +
        'placed the status stays: 409 `order_in_progress`. With `If-Match` the animal is changed only if it is still in ' +
        'that version, otherwise the response is 412.',
      parameters: [PET_ID],
      body: mergePatch(schemaRef('PetPatch'), { 'a name': { name: 'Bella' }, reserved: { status: 'pending' } }),
      success: ['The animal has been changed.', animal({ ...LUNA, name: 'Bella' })],
      refusals: refusals(404, 409, 412),
    }),
    delete: petChanges.delete('withdraw', {
      operationId: 'withdrawPet',
      summary: 'Withdraw an animal',
      description:
        'Withdraws the animal for good: it is in no list any more, and its identifier answers 404. Its earlier orders ' +
        'stay readable. While an order is placed it is refused with 409 `order_in_progress`.',
      parameters: [PET_ID],
      status: 204,
      success: ['The animal has been withdrawn.'],
      refusals: refusals(404, 409, 412),
    }),
  },
  '/categories': {
    get: categories.get('list', {
      operationId: 'listCategories',
      summary: 'List categories',
      description: 'Lists categories by their identifiers, ascending. Pages work as for animals.',
      parameters: [parameter('Limit'), ids('id', 'Only these categories.'), parameter('Cursor')],
      success: ['A page of categories.', page('Category', CATS, { id: 2, name: 'Dogs' })],
      headers: withHeaders('Link'),
    }),
    post: categories.post('add', {
      operationId: 'createCategory',
      summary: 'Add a category',
      description:
        'Adds a category under an identifier that neither a category nor an animal has. A name that another category has, ' +
        'without regard to case, is refused with 409 `category_name_taken`.',
      body: json(schemaRef('NewCategory'), { 'a category': { name: 'Rabbits' } }),
      status: 201,
      success: ['The category has been added.', category({ id: 3, name: 'Rabbits' })],
    }),
  },
  '/categories/{categoryId}': {
    get: categories.get('get', {
      operationId: 'getCategory',
      summary: 'Get a category',
      description: 'Gets a category.',
      parameters: [parameter('CategoryId')],
      success: ['The category.', category(CATS)],
      refusals: refusals(404),
    }),
    put: categories.put('name', {
      operationId: 'nameCategory',
      summary: 'Name a category',
      description:
        'Gives the identifier this name, whether it has a name or not; animals may carry it already. A name that another ' +
        'category has, without regard to case, is refused with 409 `category_name_taken`. With `If-Match` a category that ' +
        'is still in that version is renamed, otherwise the response is 412. With `If-None-Match: *` only an identifier ' +
        'without a name is named.',
      parameters: [parameter('CategoryId')],
      body: json(schemaRef('NewCategory'), { 'another name': { name: 'Big cats' } }),
      success: ['The category has been renamed.', category({ ...CATS, name: 'Big cats' })],
      refusals: {
        201: {
          description: 'The identifier has been named.',
          headers: withHeaders('X-Stability', 'ETag', 'Location'),
          content: category({ ...CATS, name: 'Big cats' }),
        },
        ...refusals(404, 409, 412),
      },
    }),
    delete: categories.delete('remove', {
      operationId: 'removeCategory',
      summary: 'Remove a category',
      description: 'Removes the category. While an animal has it, it is refused with 409 `category_in_use`.',
      parameters: [parameter('CategoryId')],
      status: 204,
      success: ['The category has been removed.'],
      refusals: refusals(404, 409, 412),
    }),
  },
  '/store/orders': {
    get: orders.get('list', {
      operationId: 'listOrders',
      summary: 'List orders',
      description: "Lists the account's orders by their identifiers, ascending. Pages work as for animals.",
      parameters: [
        parameter('Limit'),
        parameterIn('query', 'status', 'Only orders with this status.', schemaRef('OrderStatus')),
        parameter('Cursor'),
      ],
      success: ['A page of orders.', page('Order', PLACED)],
      headers: withHeaders('Link'),
    }),
    post: orders.post('place', {
      operationId: 'placeOrder',
      summary: 'Place an order',
      description:
        'Orders an animal, which becomes `pending`. Of concurrent requests for one animal one places the order; the others ' +
        'get 409 `pet_not_available`. An account at its limit of placed orders, 100 by default, gets 409 `too_many_orders`.',
      body: json(schemaRef('NewOrder'), { 'an order': { petId: 1 } }),
      status: 201,
      success: ['The order has been placed.', order(PLACED)],
      refusals: refusals(404),
    }),
  },
  '/store/orders/{orderId}': {
    get: orders.get('get', {
      operationId: 'getOrder',
      summary: 'Get an order',
      description: "Gets one of the account's orders.",
      parameters: [parameter('OrderId')],
      success: ['The order.', order(PLACED)],
      refusals: refusals(404),
    }),
  },
  '/store/orders/{orderId}/complete': {
    post: endOrder('complete', 'Complete an order', 'The animal becomes `sold`.', 'completed'),
  },
  '/store/orders/{orderId}/cancel': {
    post: endOrder('cancel', 'Cancel an order', 'The animal becomes `available` again.', 'cancelled'),
  },
  '/messages': {
    post: messages.post('queue', {
      operationId: 'queueMessage',
      summary: 'Send a message',
      description: 'Queues a message to the store. It is delivered soon afterwards, at least once.',
      body: json(schemaRef('NewMessage'), { 'a message': { message: QUEUED.message } }),
      status: 202,
      success: ['The message has been queued.', message(QUEUED)],
    }),
  },
  '/messages/{messageId}': {
    get: messages.get('get', {
      operationId: 'getMessage',
      summary: 'Get a message',
      description: "Gets one of the account's messages with its delivery status.",
      parameters: [
        parameterIn('path', 'messageId', 'Identifier of the message.', {
          type: 'string',
          examples: [QUEUED.id],
        }),
      ],
      success: ['The message.', message({ ...QUEUED, status: 'sent' })],
      refusals: refusals(404),
    }),
  },
  '/rate_limit': {
    get: limits.look('get', {
      operationId: 'getRateLimit',
      summary: 'Get the limits',
      description:
        'Gets the plan, the requests used and left, and the ban. It costs no quota, and works without any quota left; ' +
        'a key may send it 60 times a minute.',
      success: [
        'The plan and limits of the caller.',
        json(schemaRef('RateLimit'), {
          'room left': NOBODY_BANNED,
          banned: { ...NOBODY_BANNED, ban: { until: 1_795_262_700 } },
        }),
      ],
    }),
  },
};
