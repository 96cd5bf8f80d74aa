/** The API with only the observers named in the arguments: log, metrics, usage, refusals. */
import { ApiMetrics, createApi } from '@adoption-store/api';
import { createApplication } from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { openLog } from '@adoption-store/telemetry';

/** Records that record nothing. */
const UNRECORDED = { record: () => undefined };

const watched = process.argv.slice(2);
const log = await openLog({ service: 'api', level: 'info' });
const { ports, isReady, read, close } = await openInfrastructure({
  databaseUrl: process.env.DATABASE_URL,
  poolSize: 10,
});
const api = await createApi({
  application: createApplication({
    ...ports,
    usage: watched.includes('usage') ? ports.usage : UNRECORDED,
    refusals: watched.includes('refusals') ? ports.refusals : UNRECORDED,
  }),
  clock: ports.clock,
  isReady,
  log,
  logRequests: watched.includes('log'),
  metrics: watched.includes('metrics') ? new ApiMetrics(read, () => Promise.resolve(new Map())) : undefined,
});
await api.listen(0, '127.0.0.1');
console.log(`Address  ${await api.getUrl()}/v1`);
process.once('SIGTERM', () => {
  void api.close().then(close);
});
