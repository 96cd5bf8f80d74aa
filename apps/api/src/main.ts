import { setTimeout as delay } from 'node:timers/promises';
import {
  apiSettings,
  CLOSING_TIME,
  explainListenError,
  localAddress,
  readSettings,
  runService,
  type Values,
} from '@adoption-store/config';
import { createApplication, SECOND } from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { createApi } from './create-api.js';
import { demoKey, seedAnimals } from './demo.js';
import { OpenConnections } from './health/open-connections.js';

const ALONE = 'limits are counted by this instance alone; with REDIS_URL all instances count together';

await runService((environment) => readSettings(apiSettings, environment), start);

/** Serves the API; what it returns ends it. */
async function start(settings: Values<typeof apiSettings>, told: AbortSignal): Promise<() => Promise<void>> {
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDirectory, PORT: port, HOST: host } = settings;
  const { ports, isReady, close } = await openInfrastructure({
    databaseUrl,
    dataDirectory,
    poolSize: settings.DATABASE_POOL_SIZE,
    redisUrl: settings.REDIS_URL,
    banPolicy: {
      refusals: settings.BAN_REFUSALS,
      firstBan: settings.BAN_SECONDS * SECOND,
      longestBan: settings.BAN_SECONDS_MAX * SECOND,
    },
    onEvent: console.error,
  });
  try {
    const application = createApplication(ports, {
      keyEnvironment: settings.KEY_ENVIRONMENT,
      addressLimit: settings.ADDRESS_LIMIT,
    });
    const isEmbedded = databaseUrl === undefined;
    if (isEmbedded) await seedAnimals(application);
    const key = isEmbedded ? await demoKey(application, dataDirectory) : undefined;
    const { clock } = ports;
    const api = await createApi({
      application,
      clock,
      isReady,
      ending: told,
      publicUrl: settings.PUBLIC_URL,
      logLevel: settings.LOG_LEVEL,
      trustProxy: settings.TRUST_PROXY,
    });
    const connections = new OpenConnections(api.getHttpServer());
    await api.listen({ port, host }).catch((error: unknown) => {
      throw explainListenError(error, { host, port, hostSetting: 'HOST', portSetting: 'PORT' });
    });
    console.log(welcome(settings.PUBLIC_URL ?? localAddress(host, Number(new URL(await api.getUrl()).port)), key));
    if (!isEmbedded && settings.REDIS_URL === undefined) console.error(ALONE);
    return async () => {
      const drainTime = settings.SHUTDOWN_TIMEOUT - CLOSING_TIME;
      // Whoever presses Ctrl-C has no load balancer that needs the time.
      const lameDuck = told.reason === 'SIGTERM' ? Math.min(settings.LAME_DUCK, drainTime) : 0;
      await delay(lameDuck);
      await connections.drain(drainTime - lameDuck, () => api.close());
      await close();
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function welcome(address: string, key: string | undefined): string {
  const withKey = [
    `  API key  ${key ?? ''}  (demo account, plan pro)`,
    '',
    '  Try it:',
    `  curl -i -H 'Authorization: Bearer ${key ?? ''}' '${address}/v1/pets?status=available'`,
  ];
  const withoutKey = [
    '  A key:   npm run -s keys -- create --email you@example.com --plan free',
    '',
    '  Then:',
    `  curl -i -H 'Authorization: Bearer YOUR_KEY' '${address}/v1/pets?status=available'`,
  ];
  return [
    '',
    'The Animal Adoption Store API is ready. Ctrl-C ends it.',
    '',
    `  Address  ${address}/v1`,
    `  Docs     ${address}/docs`,
    ...(key === undefined ? withoutKey : withKey),
    '',
  ].join('\n');
}
