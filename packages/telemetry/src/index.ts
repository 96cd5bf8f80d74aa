export type { Logger } from 'pino';
export * from './log.js';
export * from './metrics.js';
export * from './pages.js';
export * from './redact-keys.js';
export * from './trace-context.js';
export * from './open-tracing.js';
export * from './tracing.js';
