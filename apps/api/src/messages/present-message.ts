import type { Message } from '@adoption-store/domain';
import { isoTime } from '../http/iso-time.js';
import { messageSchemas } from './message.schema.js';

export interface PresentedMessage extends Pick<Message, 'id' | 'status'> {
  readonly message: string;
  readonly createdAt: string;
}

const write = messageSchemas.serialiser('Message');

/** What clients see of a message: a Message, as JSON. */
export function presentMessage({ id, text, status, createdAt }: Message): string {
  return write({ id, message: text, status, createdAt: isoTime(createdAt) });
}
