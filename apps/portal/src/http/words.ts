import type {
  DeliveryStatus,
  KeyState,
  MessageStatus,
  OrderStatus,
  PetStatus,
  WebhookStatus,
} from '@adoption-store/domain';

/** A class of the style sheet. */
type Colour = 'good' | 'wait' | 'bad' | '';
type Colours<Word extends string> = Readonly<Record<Word, Colour>>;

/** What templates show for each word of a set of the domain. A new word doesn't compile until it is here. */
export const COLOURS: {
  readonly animal: Colours<PetStatus>;
  readonly order: Colours<OrderStatus>;
  readonly message: Colours<MessageStatus>;
  readonly delivery: Colours<DeliveryStatus>;
  readonly webhook: Colours<WebhookStatus>;
  readonly key: Colours<KeyState>;
} = {
  animal: { available: 'good', pending: 'wait', sold: '' },
  order: { placed: 'wait', completed: 'good', cancelled: '', expired: '' },
  message: { queued: 'wait', sent: 'good', failed: 'bad' },
  delivery: { queued: 'wait', sent: 'good', failed: 'bad' },
  webhook: { enabled: 'good', disabled: 'wait' },
  key: { active: 'good', disabled: 'wait', expired: '', revoked: '' },
};

export const MESSAGE_MEANINGS: Readonly<Record<MessageStatus, string>> = {
  queued: 'Queued: it will be delivered soon',
  sent: 'Sent: it was delivered to the store',
  failed: 'Failed: it could not be delivered',
};
