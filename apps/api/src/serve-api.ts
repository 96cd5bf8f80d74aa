import {
  type apiSettings,
  CLOSING_TIME,
  explainListenError,
  type ListenAddress,
  localAddress,
  tell,
  type Values,
} from '@adoption-store/config';
import { createApplication } from '@adoption-store/domain';
import type { OpenedApp } from '@adoption-store/store';
import { servePages } from '@adoption-store/telemetry';
import { OpenConnections } from '@adoption-store/web';
import { OPERATIONS } from './api.module.js';
import { createApi } from './create-api.js';
import { demoKey, seedCatalogue } from './demo.js';
import { ApiMetrics } from './http/edge/metrics.js';

type Settings = Values<typeof apiSettings>;

/** The most connections that wait to be accepted. For a further one, the client's kernel tries again seconds later. */
const BACKLOG = 4_096;

const ALONE = 'each instance counts requests by itself; set REDIS_URL so that all instances count together';

/** Starts the API. The returned function stops it. */
export async function serveApi({ settings, stopping, log, tracing, store }: OpenedApp<Settings>) {
  const { PORT: port, HOST: host } = settings;
  const { ports, policy, turns, isReady, read } = store;
  const application = createApplication(ports, policy);
  const isEmbedded = settings.DATABASE_URL === undefined;
  if (isEmbedded) await seedCatalogue(application);
  const key = isEmbedded ? await demoKey(application, settings.DATA_DIR) : undefined;
  const metrics = new ApiMetrics(read, OPERATIONS);
  metrics.watchLog(log);
  const api = await createApi({
    application,
    clock: ports.clock,
    isReady,
    turns,
    stopping,
    publicUrl: settings.PUBLIC_URL,
    portalUrl: settings.PORTAL_URL,
    contact: settings.SUPPORT_CONTACT,
    trustProxy: settings.TRUST_PROXY,
    corsOrigins: settings.CORS_ORIGINS,
    log,
    logRequests: settings.ACCESS_LOG === 'on',
    metrics,
    tracing,
  });
  const connections = new OpenConnections(api.getHttpServer());
  await api.listen({ port, host, backlog: BACKLOG }).catch((error: unknown) => {
    throw explainListenError(error, { host, port, hostSetting: 'HOST', portSetting: 'PORT' });
  });
  const pages = await servePages({ '/metrics': () => metrics.page() }, metricsAddress(settings));
  const listening = localAddress(host, Number(new URL(await api.getUrl()).port));
  tell(welcome(settings.PUBLIC_URL ?? listening, pages.address, key));
  log.logger.info(`Server listening at ${listening}`);
  if (!isEmbedded && settings.REDIS_URL === undefined) log.logger.warn(ALONE);
  return async () => {
    const times = { lameDuck: settings.LAME_DUCK, all: settings.SHUTDOWN_TIMEOUT - CLOSING_TIME };
    await connections.end(stopping, times, () => api.close());
    pages.close();
  };
}

function metricsAddress({ METRICS_HOST: host, METRICS_PORT: port }: Settings): ListenAddress {
  return { host, port, hostSetting: 'METRICS_HOST', portSetting: 'METRICS_PORT' };
}

/** The text at the start. With a given database there is no demo key, so it says how to create one. */
function welcome(address: string, metrics: string, key: string | undefined): string {
  const first =
    key === undefined
      ? `  A key:   npm run -s keys -- create --email you@example.com --plan free

  Then:`
      : `  API key  ${key}  (demo account, plan pro)

  Try it:`;
  return `
The Animal Adoption Store API is ready. Ctrl-C ends it.

  Address  ${address}/v1
  Docs     ${address}/docs
  Metrics  ${metrics}/metrics
${first}
  curl -i -H 'Authorization: Bearer ${key ?? 'YOUR_KEY'}' '${address}/v1/pets?status=available'
`;
}
