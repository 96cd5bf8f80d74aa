import type { Message as DomainMessage } from '@adoption-store/domain';
import { isoTime } from '../http/iso-time.js';

/** Message (requirements.md §4.4), for Fastify's serialiser. */
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

/** What clients see of a message. */
export function presentMessage({ id, text, status, createdAt }: DomainMessage) {
  return { id, message: text, status, createdAt: isoTime(createdAt) };
}

export type Message = ReturnType<typeof presentMessage>;
