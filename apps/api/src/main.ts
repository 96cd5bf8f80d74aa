import { existsSync } from 'node:fs';
import { apiSettings, ConfigError, EXIT_CONFIG, readSettings } from '@adoption-store/config';
import { createApplication, SECOND } from '@adoption-store/domain';
import { openInfrastructure } from '@adoption-store/infrastructure';
import { createApi } from './create-api.js';
import { demoKey, seedAnimals } from './demo.js';

// Longer than any request may take (create-api.ts).
const STOP_TIMEOUT_MS = 10_000;
const ALONE = 'limits are counted by this instance alone; with REDIS_URL all instances count together';

if (existsSync('.env')) process.loadEnvFile('.env');
// Asked for first, so that a Ctrl-C while PostgreSQL is starting leaves none behind.
const signal = stopSignal();
try {
  const close = await start();
  await signal;
  await close();
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
}

/** Serves the API; what it returns ends it. */
async function start(): Promise<() => Promise<void>> {
  const settings = readSettings(apiSettings, process.env);
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDirectory, PORT: port, HOST: host } = settings;
  const { ports, close } = await openInfrastructure({
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
      publicUrl: settings.PUBLIC_URL,
      logLevel: settings.LOG_LEVEL,
      trustProxy: settings.TRUST_PROXY,
    });
    await api.listen({ port, host }).catch((error: unknown) => {
      throw explainListenError(error, host, port);
    });
    console.log(welcome(settings.PUBLIC_URL ?? addressOf(await api.getUrl(), host), key));
    if (!isEmbedded && settings.REDIS_URL === undefined) console.error(ALONE);
    return async () => {
      await api.close();
      await close();
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function giveUp(): void {
  console.error(`the service did not end within ${STOP_TIMEOUT_MS / 1_000} s of being told to, so it is ended now`);
  process.exit(1);
}

/**
 * The first signal to stop. npm passes on a Ctrl-C that the terminal has already sent to everybody, so the ones after it
 * mean nothing.
 */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.on(name, () => {
        setTimeout(giveUp, STOP_TIMEOUT_MS).unref();
        resolve();
      });
    }
  });
}

function explainListenError(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return new Error(`port ${port} of ${host} is in use by another program; PORT names another one`);
    case 'EACCES':
      return new Error(`port ${port} of ${host} may not be opened by this user; PORT names another one`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Error(`${host} is not an address of this machine; HOST names the one to listen on`);
    default:
      return error;
  }
}

/** Where a person on this machine reaches the service. */
function addressOf(url: string, host: string): string {
  const { port } = new URL(url);
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
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
    ...(key === undefined ? withoutKey : withKey),
    '',
  ].join('\n');
}
