import type { Order as DomainOrder } from '@adoption-store/domain';
import { isoTime } from '../http/iso-time.js';

/** Order (contract.md, "Store"), for Fastify's serialiser, which writes bigints as integers, digit by digit. */
export const orderSchema = {
  type: 'object',
  required: ['id', 'petId', 'status', 'createdAt', 'updatedAt'],
  properties: {
    id: { type: 'integer' },
    petId: { type: 'integer' },
    status: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
  },
} as const;

/** What clients see of an order. */
export function presentOrder({ id, animalId, status, createdAt, updatedAt }: DomainOrder) {
  return { id, petId: animalId, status, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}

export type Order = ReturnType<typeof presentOrder>;
