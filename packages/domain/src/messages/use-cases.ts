export { DeliverMessages as deliverMessages } from './deliver-messages.js';
export { GetMessage as getMessage } from './get-message.js';
export { ListMessages as listMessages } from './list-messages.js';
export { QueueMessage as queueMessage } from './queue-message.js';
export { RetryFailedMessages as retryFailedMessages } from './retry-failed-messages.js';
export { RetryMessage as retryMessage } from './retry-message.js';
export { ShowMessages as showMessages } from './show-messages.js';
