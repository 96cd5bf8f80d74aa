import type { Message } from '@adoption-store/domain';
import { isoTime } from '../http/schema.js';
import { messageSchemas, type PresentedMessage } from './message.schema.js';

const write = messageSchemas.serialiser('Message');

/** The JSON of a message: a Message. */
export function presentMessage({ id, text, status, createdAt }: Message): string {
  const presented: PresentedMessage = { id, message: text, status, createdAt: isoTime(createdAt) };
  return write(presented);
}
