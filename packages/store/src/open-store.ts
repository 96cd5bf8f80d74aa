import type { serviceSettings, storeSettings, Values } from '@adoption-store/config';
import { SECOND, type StorePolicy } from '@adoption-store/domain';
import type { Infrastructure, InfrastructureConfig } from '@adoption-store/infrastructure';
import type { Log } from '@adoption-store/telemetry';

/** What opening reads. An app that neither counts requests nor shows counts has no REDIS_URL. */
export type StoreSettings = Values<typeof storeSettings> &
  Partial<Pick<Values<typeof serviceSettings>, 'WEBHOOK_ALLOW'>> & {
    readonly REDIS_URL?: InfrastructureConfig['redis'];
  };

/** A service's log, or where a command tells its operator. */
export type StoreLog = Pick<Log, 'logger'> | ((message: string) => void);

export interface Store extends Infrastructure {
  readonly policy: StorePolicy;
}

/**
 * Opens the store: its ports on a migrated database, and the policy that all its apps share.
 *
 * @param delivery how this process delivers messages, if it does.
 * @throws Error with one sentence if the database can't be used.
 */
export async function openStore(
  settings: StoreSettings,
  log: StoreLog,
  delivery?: InfrastructureConfig['delivery'],
): Promise<Store> {
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDirectory } = settings;
  const policy = policyOf(settings);
  // Loaded only now: they take most of a command's time, and aren't needed to report wrong usage.
  const { openDatabase } = await import('@adoption-store/embedded-postgres');
  const { openInfrastructure } = await import('@adoption-store/infrastructure');
  const { logDependencies } = await import('@adoption-store/telemetry');
  const onEvent =
    typeof log === 'function'
      ? log
      : (message: string) => {
          log.logger.warn(message);
        };
  const infrastructure = await openInfrastructure({
    ...(await openDatabase({ databaseUrl, dataDirectory, onEvent })),
    directDatabaseUrl: settings.DATABASE_DIRECT_URL,
    poolSize: settings.DATABASE_POOL_SIZE,
    webhookSecrets: settings.WEBHOOK_SECRET,
    redis: settings.REDIS_URL,
    policy,
    delivery,
    webhooks: { allow: settings.WEBHOOK_ALLOW, mayUseLocalhost: databaseUrl === undefined },
    onEvent,
    onDependency: typeof log === 'function' ? undefined : logDependencies(log),
  });
  return { ...infrastructure, policy };
}

function policyOf(settings: StoreSettings): StorePolicy {
  return {
    keyEnvironment: settings.KEY_ENVIRONMENT,
    categories: settings.CATEGORIES,
    orderLimit: settings.ORDER_LIMIT,
    orderTtl: settings.ORDER_TTL,
    messageLimit: settings.MESSAGE_LIMIT,
    addressLimit: settings.ADDRESS_LIMIT,
    bans: {
      refusals: settings.BAN_REFUSALS,
      firstBan: settings.BAN_SECONDS * SECOND,
      longestBan: settings.BAN_SECONDS_MAX * SECOND,
    },
  };
}
