import type { Branded } from '../kernel/branded.js';

/** `evt_` and 32 hexadecimal digits. */
export type EventId = Branded<string, 'EventId'>;

export const EVENT_TYPES = [
  'pet.added',
  'pet.changed',
  'pet.removed',
  'order.placed',
  'order.completed',
  'order.cancelled',
  'order.expired',
  'message.sent',
  'message.failed',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
