export { MeterRequest } from './meter-request.js';
export * from './record-request.js';
export * from './show-refusals.js';
export { ShowUsage } from './show-usage.js';
