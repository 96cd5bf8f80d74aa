export * from './deliver-messages.js';
export * from './get-message.js';
export * from './list-messages.js';
export * from './queue-message.js';
export * from './retry-failed-messages.js';
export * from './retry-message.js';
export * from './show-messages.js';
