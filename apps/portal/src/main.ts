import {
  CLOSING_TIME,
  explainListenError,
  type ListenAddress,
  localAddress,
  portalSettings,
  readSettings,
  tell,
  type Values,
} from '@adoption-store/config';
import { createApplication } from '@adoption-store/domain';
import { type OpenedApp, runApp } from '@adoption-store/store';
import { servePages } from '@adoption-store/telemetry';
import { OpenConnections } from '@adoption-store/web';
import { createPortal } from './create-portal.js';
import { PortalMetrics } from './http/portal-metrics.js';

type Settings = Values<typeof portalSettings>;

await runApp({ name: 'portal', read: (environment) => readSettings(portalSettings, environment), serve });

/** Starts the portal. The returned function stops it. */
async function serve({ settings, stopping, log, store }: OpenedApp<Settings>): Promise<() => Promise<void>> {
  const { PORTAL_PORT: port, PORTAL_HOST: host } = settings;
  const { ports, policy, turns, isReady, secret, read } = store;
  const metrics = new PortalMetrics(read);
  metrics.watchLog(log);
  const pages = await servePages({ '/metrics': () => metrics.page() }, metricsAddress(settings));
  const options = {
    // Without DATABASE_URL the operator is the only visitor.
    opensUnproven: settings.DATABASE_URL === undefined,
    signupScopes: settings.SIGNUP_SCOPES,
  };
  const portal = await createPortal({
    application: createApplication(ports, policy, options),
    clock: ports.clock,
    secrets: settings.PORTAL_SECRET ?? [await secret('portal')],
    apiUrl: settings.PUBLIC_URL ?? localAddress(settings.HOST, settings.PORT),
    portalUrl: settings.PORTAL_URL,
    contact: settings.SUPPORT_CONTACT,
    isReady,
    turns,
    stopping,
    trustProxy: settings.TRUST_PROXY,
    log,
    metrics,
    logRequests: settings.ACCESS_LOG === 'on',
  });
  const connections = new OpenConnections(portal.getHttpServer());
  await portal.listen({ port, host }).catch((error: unknown) => {
    throw explainListenError(error, { host, port, hostSetting: 'PORTAL_HOST', portSetting: 'PORTAL_PORT' });
  });
  const address = settings.PORTAL_URL ?? localAddress(host, Number(new URL(await portal.getUrl()).port));
  tell(`  Portal   ${address}\n`);
  return async () => {
    const times = { lameDuck: settings.LAME_DUCK, all: settings.SHUTDOWN_TIMEOUT - CLOSING_TIME };
    await connections.end(stopping, times, () => portal.close());
    pages.close();
  };
}

function metricsAddress({ METRICS_HOST: host, PORTAL_METRICS_PORT: port }: Settings): ListenAddress {
  return { host, port, hostSetting: 'METRICS_HOST', portSetting: 'PORTAL_METRICS_PORT' };
}
