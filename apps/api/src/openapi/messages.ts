import { MAX_MESSAGE_LENGTH, MESSAGE_STATUSES } from '@adoption-store/domain';
import { stabilityOf } from '../http/stability.js';
import { MessagesController } from '../messages/messages.controller.js';
import { refusals } from './errors.js';
import { withHeaders } from './headers.js';
import { parameter } from './parameters.js';
import { type Described, json, oneOf, schemaRef, time } from './schema.js';

const COMMON = { tags: ['Messages'], 'x-stability': stabilityOf(MessagesController) };
const QUEUED = {
  id: 'msg_2Yb8kQ0xWm4TzR7nLc5VhJ1s',
  message: 'Is Luna still there?',
  status: 'queued',
  createdAt: '2026-11-21T12:00:00.000Z',
};

const text: Described = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_MESSAGE_LENGTH,
  description: 'What to tell the store.',
  examples: [QUEUED.message],
};

export const messageSchemas: Readonly<Record<string, Described>> = {
  Message: {
    type: 'object',
    description: 'A message to the store.',
    required: ['id', 'message', 'status', 'createdAt'],
    properties: {
      id: {
        type: 'string',
        pattern: '^msg_[0-9A-Za-z]{24}$',
        description: 'Unique identifier.',
        examples: [QUEUED.id],
      },
      message: text,
      status: schemaRef('MessageStatus'),
      createdAt: time('When the message was queued.'),
    },
    examples: [QUEUED],
  },
  NewMessage: {
    type: 'object',
    description: 'A message to queue.',
    required: ['message'],
    properties: { message: text },
    examples: [{ message: QUEUED.message }],
  },
  MessageStatus: oneOf(
    MESSAGE_STATUSES,
    'Whether the message is still `queued`, has been `sent`, or has `failed` for good.',
  ),
};

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
