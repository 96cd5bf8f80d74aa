import { MeterRequest } from './meter-request.js';
import { RecordRequest } from './record-request.js';
import { ShowRefusals } from './show-refusals.js';
import { ShowUsage } from './show-usage.js';

export const limitUseCases = {
  meterRequest: MeterRequest,
  recordRequest: RecordRequest,
  showUsage: ShowUsage,
  showRefusals: ShowRefusals,
};
