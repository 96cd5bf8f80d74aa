import type {
  DeliveryStatus,
  KeyState,
  MessageStatus,
  OrderStatus,
  PetStatus,
  WebhookHealth,
  EventType,
} from '@adoption-store/domain';

type Colour = 'good' | 'wait' | 'bad' | '';
type Colours<Word extends string> = Readonly<Record<Word, Colour>>;

/** What templates show for each word of a set of the domain. A new word doesn't compile until it is here. */
export const COLOURS: {
  readonly animal: Colours<PetStatus>;
  readonly order: Colours<OrderStatus>;
  readonly message: Colours<MessageStatus>;
  readonly delivery: Colours<DeliveryStatus>;
  readonly webhook: Colours<WebhookHealth>;
  readonly key: Colours<KeyState>;
} = {
  animal: { available: 'good', pending: 'wait', sold: '' },
  order: { placed: 'wait', completed: 'good', cancelled: '', expired: '' },
  message: { queued: 'wait', sent: 'good', failed: 'bad' },
  delivery: { queued: 'wait', sent: 'good', failed: 'bad' },
  webhook: { enabled: 'good', failing: 'bad', disabled: 'wait' },
  key: { active: 'good', disabled: 'wait', expired: '', revoked: '' },
};

export const MESSAGE_MEANINGS: Readonly<Record<MessageStatus, string>> = {
  queued: 'Queued: it will be delivered soon',
  sent: 'Sent: it was delivered to the store',
  failed: 'Failed: it could not be delivered',
};

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
