/** The API with only the observers named in the arguments: log, metrics, usage. */
import { ApiMetrics, createApi } from '@adoption-store/api';
import { createApplication } from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { openLog } from '@adoption-store/telemetry';

const watched = process.argv.slice(2);
const log = await openLog({ service: 'api', level: 'info' });
const { ports, isReady, read, close } = await openInfrastructure({
  databaseUrl: process.env.DATABASE_URL,
  poolSize: 10,
});
const api = await createApi({
  application: createApplication(watched.includes('usage') ? ports : { ...ports, usage: unrecorded(ports.usage) }),
  clock: ports.clock,
  isReady,
  log,
  logRequests: watched.includes('log'),
  metrics: watched.includes('metrics') ? new ApiMetrics(read) : undefined,
});
await api.listen(0, '127.0.0.1');
console.log(`Address  ${await api.getUrl()}/v1`);
process.once('SIGTERM', () => {
  void api.close().then(close);
});

/** Usage records that record nothing. */
function unrecorded(usage) {
  return { record: () => undefined, list: usage.list.bind(usage), forget: usage.forget.bind(usage) };
}
