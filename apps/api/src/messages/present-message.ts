import type { Message } from '@adoption-store/domain';
import { isoTime } from '../http/iso-time.js';
import { type JsonSchema, serialiser } from '../http/serialiser.js';

/** Message (requirements.md §4.4) as its JSON is. */
const messageSchema: JsonSchema = {
  type: 'object',
  required: ['id', 'message', 'status', 'createdAt'],
  properties: {
    id: { type: 'string' },
    message: { type: 'string' },
    status: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
  },
};

const write = serialiser(messageSchema);

/** What clients see of a message: a Message, as JSON. */
export function presentMessage({ id, text, status, createdAt }: Message): string {
  return write({ id, message: text, status, createdAt: isoTime(createdAt) });
}
