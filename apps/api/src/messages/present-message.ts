import type { Message } from '@adoption-store/domain';
import { isoTime } from '../http/iso-time.js';

/** Message (requirements.md §4.4) as its JSON is. */
export const messageSchema = {
  type: 'object',
  required: ['id', 'message', 'status', 'createdAt'],
  properties: {
    id: { type: 'string' },
    message: { type: 'string' },
    status: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
  },
} as const;

/** What clients see of a message: a Message, as JSON. */
export function presentMessage({ id, text: message, status, createdAt }: Message): string {
  return JSON.stringify({ id, message, status, createdAt: isoTime(createdAt) });
}
