import { ANSWER_WITHIN, EVENT_TYPES, PING, SECOND } from '@adoption-store/domain';
import { LUNA } from '../animals/animal.schema.js';
import { PLACED_EVENT, sequence } from '../events/event.schema.js';
import { type Described, json, object, parameterIn, ref, schemaRef, time } from '../http/operations/schema.js';
import { QUEUED as MESSAGE } from '../messages/message.schema.js';
import { PLACED } from '../orders/order.schema.js';
import { SHELTER } from '../webhooks/webhook.schema.js';

const text = (example: string): Described => ({ type: 'string', examples: [example] });
const required = (name: string, description: string, example: string): Described => ({
  ...parameterIn('header', name, description, text(example)),
  required: true,
});

export const receivedHeaders: Readonly<Record<string, Described>> = {
  ReceivedId: required(
    'webhook-id',
    'Identifier of the event, or of the ping: the same at each attempt. An event may arrive twice; do nothing the second time.',
    PLACED_EVENT.id,
  ),
  ReceivedTimestamp: required(
    'webhook-timestamp',
    'When it was sent, in Unix seconds. Refuse one that is more than five minutes old.',
    '1795262400',
  ),
  ReceivedSignature: required(
    'webhook-signature',
    'Its signatures, with spaces between them: one for each secret that signs, at most five. One must be right.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
};

const ANIMAL = [schemaRef('Pet'), LUNA] as const;
const DATA: Readonly<Record<string, readonly [schema: Described, example: Described]>> = {
  pet: ANIMAL,
  order: [schemaRef('Order'), PLACED],
  message: [schemaRef('Message'), MESSAGE],
  webhook: [object('The webhook.', { id: text(SHELTER.id) }, { id: SHELTER.id }), { id: SHELTER.id }],
};

/** The `webhooks` of the description: what receivers get, by the type of the event. */
export const receivedEvents: Described = Object.fromEntries(
  [...EVENT_TYPES, PING].map((type) => [type, { post: received(type) }]),
);

function received(type: string): Described {
  const [kind = '', word = ''] = type.split('.');
  const [schema, resource] = DATA[kind] ?? ANIMAL;
  const data = kind === 'order' || kind === 'message' ? { ...resource, status: word } : resource;
  const isNumbered = type !== PING;
  const example = {
    type,
    timestamp: PLACED_EVENT.createdAt,
    ...(isNumbered && { sequence: PLACED_EVENT.sequence }),
    data,
  };
  const properties = {
    type: { const: type, ...text(type) },
    timestamp: time('When it happened.'),
    ...(isNumbered && { sequence }),
    data: schema,
  };
  return {
    operationId: `receive${[kind, word].map((each) => each.charAt(0).toUpperCase() + each.slice(1)).join('')}`,
    summary: `Receive ${type}`,
    description: `Sent to each enabled webhook that it is for. Answer within ${ANSWER_WITHIN / SECOND} seconds.`,
    tags: ['Webhooks'],
    security: [],
    parameters: Object.keys(receivedHeaders).map((name) => ref('parameters', name)),
    requestBody: { required: true, content: json(object('What has happened.', properties), { event: example }) },
    responses: {
      '2XX': { description: 'It has arrived. Any other answer is a failure, and it is sent again.' },
      410: { description: 'Nothing more shall be sent: the webhook is disabled.' },
    },
  };
}
