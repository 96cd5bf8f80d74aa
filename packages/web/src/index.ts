export * from './fixed-file.js';
export * from './forwarding.js';
export * from './has-body.js';
export * from './health.js';
export * from './nest-logger.js';
export * from './open-connections.js';
export * from './stack-of.js';
export * from './use-cases.module.js';
