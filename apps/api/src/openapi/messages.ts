import { stabilityOf } from '../http/stability.js';
import { QUEUED } from '../messages/message.schema.js';
import { MessagesController } from '../messages/messages.controller.js';
import { refusals } from './errors.js';
import { withHeaders } from './headers.js';
import { parameter } from './parameters.js';
import { type Described, json, schemaRef } from './schema.js';

const COMMON = { tags: ['Messages'], 'x-stability': stabilityOf(MessagesController) };
const queueMessage: Described = {
  operationId: 'queueMessage',
  summary: 'Send a message',
  description: 'Queues a message to the store. It is delivered soon after, at least once.',
  ...COMMON,
  parameters: [parameter('IdempotencyKey'), parameter('RequestId')],
  requestBody: {
    required: true,
    content: json(schemaRef('NewMessage'), { 'a message': { message: QUEUED.message } }),
  },
  responses: {
    202: {
      description: 'The message has been queued.',
      headers: withHeaders('X-Stability', 'Location', 'Idempotent-Replayed'),
      content: json(schemaRef('Message'), { 'the message': QUEUED }),
    },
    ...refusals(),
  },
};

const getMessage: Described = {
  operationId: 'getMessage',
  summary: 'Get a message',
  description: "Gets one of the account's messages, to see whether it has been sent.",
  ...COMMON,
  parameters: [
    {
      name: 'messageId',
      in: 'path',
      required: true,
      description: 'Identifier of the message.',
      schema: { type: 'string' },
    },
    parameter('RequestId'),
  ],
  responses: {
    200: {
      description: 'The message.',
      headers: withHeaders('X-Stability'),
      content: json(schemaRef('Message'), { 'the message': { ...QUEUED, status: 'sent' } }),
    },
    ...refusals(404),
  },
};

export const messagePaths: Described = {
  '/messages': { post: queueMessage },
  '/messages/{messageId}': { get: getMessage },
};
