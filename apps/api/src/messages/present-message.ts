import type { Message } from '@adoption-store/domain';
import fastJson, { type ObjectSchema } from 'fast-json-stringify';
import { isoTime } from '../http/iso-time.js';

/** Message (requirements.md §4.4) as its JSON is. */
export const messageSchema: ObjectSchema = {
  type: 'object',
  required: ['id', 'message', 'status', 'createdAt'],
  properties: {
    id: { type: 'string' },
    message: { type: 'string' },
    status: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
  },
};

const write = fastJson(messageSchema);

/** What clients see of a message: a Message, as JSON. */
export function presentMessage({ id, text, status, createdAt }: Message): string {
  return write({ id, message: text, status, createdAt: isoTime(createdAt) });
}
