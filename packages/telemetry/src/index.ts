export type { Logger } from 'pino';
export * from './log.js';
export * from './metrics.js';
export * from './open-tracing.js';
export * from './pages.js';
export * from './trace-context.js';
export * from './tracing.js';
