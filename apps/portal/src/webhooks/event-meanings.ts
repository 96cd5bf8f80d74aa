import type { EventType } from '@adoption-store/domain';

/** The texts for people who choose what is sent to a webhook. */
export const EVENT_MEANINGS: Readonly<Record<EventType, string>> = {
  'pet.added': 'An animal was added',
  'pet.changed': 'An animal was changed, or adopted',
  'pet.removed': 'An animal was withdrawn',
  'order.placed': 'Your account placed an order',
  'order.completed': 'Your order was completed',
  'order.cancelled': 'Your order was cancelled',
  'order.expired': 'Your order expired',
  'message.sent': 'Your message was delivered to the store',
  'message.failed': 'Your message could not be delivered',
};
