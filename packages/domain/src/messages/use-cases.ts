import { DeliverMessages } from './deliver-messages.js';
import { GetMessage } from './get-message.js';
import { ListMessages } from './list-messages.js';
import { QueueMessage } from './queue-message.js';
import { RetryFailedMessages } from './retry-failed-messages.js';
import { RetryMessage } from './retry-message.js';
import { ShowMessages } from './show-messages.js';

export const messageUseCases = {
  queueMessage: QueueMessage,
  getMessage: GetMessage,
  listMessages: ListMessages,
  showMessages: ShowMessages,
  retryMessage: RetryMessage,
  retryFailedMessages: RetryFailedMessages,
  deliverMessages: DeliverMessages,
};
