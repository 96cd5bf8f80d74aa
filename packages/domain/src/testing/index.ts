export * from './in-memory-account-repository.js';
export * from './in-memory-animal-repository.js';
export * from './in-memory-api-key-repository.js';
export * from './in-memory-ports.js';
export * from './in-memory-request-counter.js';
export * from './manual-clock.js';
export * from './predictable-cryptography.js';
