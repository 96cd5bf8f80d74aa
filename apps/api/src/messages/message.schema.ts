import {
  MAX_MESSAGE_LENGTH,
  type Message,
  MESSAGE_STATUSES,
  type MessageJson,
  messageJson as publishedMessage,
} from '@adoption-store/domain';
import { pathParameter } from '../http/operations/path-parameter.js';
import { ResourceSchemas } from '../http/operations/resource-schemas.js';
import { type Described, exampleOf, object, openSet, schemaRef, time } from '../http/operations/schema.js';

export const QUEUED = {
  id: 'msg_2Yb8kQ0xWm4TzR7nLc5VhJ1s',
  message: 'Is Luna still there?',
  status: 'queued',
  createdAt: '2026-11-21T12:00:00.000Z',
};

export const MessageId = pathParameter(
  {
    name: 'messageId',
    description: 'Identifier of the message.',
    schema: { type: 'string' },
  },
  String,
);

const text: Described = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_MESSAGE_LENGTH,
  description: 'The text for the store.',
  examples: [QUEUED.message],
};

const presented = {
  id: { type: 'string', pattern: '^msg_[0-9A-Za-z]{24}$', description: 'Unique identifier.', examples: [QUEUED.id] },
  message: text,
  status: schemaRef('MessageStatus'),
  createdAt: time('When the message was queued.'),
} satisfies Record<keyof MessageJson, Described>;

export const messageSchemas = new ResourceSchemas({
  Message: object('A message to the store.', presented, QUEUED),
  NewMessage: object('A message to queue.', { message: text }, { message: QUEUED.message }),
  MessageStatus: openSet(
    MESSAGE_STATUSES,
    'Whether the message is still `queued`, has been `sent`, or has `failed`. Only the operator can queue a failed message again.',
  ),
});

export const messageJson = exampleOf('Message', 'the message');

/** The body of POST /v1/messages. The domain limits the length of a message. */
export class NewMessageBody {
  @messageSchemas.field('NewMessage')
  readonly message!: string;
}

const write = messageSchemas.serialiser('Message');

export function presentMessage(message: Message): string {
  return write(publishedMessage(message));
}
