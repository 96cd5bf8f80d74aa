export { MeterRequest as meterRequest } from './meter-request.js';
export { RecordRequest as recordRequest } from './record-request.js';
export { ShowRefusals as showRefusals } from './show-refusals.js';
export { ShowUsage as showUsage } from './show-usage.js';
