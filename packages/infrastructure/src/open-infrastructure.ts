import { domainToASCII } from 'node:url';
import { type AdapterPolicy, type ClaimedMessage, type Ports, reasonOf } from '@adoption-store/domain';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { Argon2PasswordHasher } from './accounts/argon2-password-hasher.js';
import { PostgresAttemptCounter } from './accounts/postgres-attempt-counter.js';
import { PostgresAccountMailQueue } from './accounts/postgres-account-mail-queue.js';
import { PostgresDeployment } from './accounts/postgres-deployment.js';
import { TypeOrmAccountRepository } from './accounts/typeorm-account-repository.js';
import { TypeOrmApiKeyRepository } from './accounts/typeorm-api-key-repository.js';
import { TypeOrmCredentialRepository } from './accounts/typeorm-credential-repository.js';
import { ZxcvbnCommonPasswords } from './accounts/zxcvbn-common-passwords.js';
import { CoalescingAnimalRepository } from './animals/coalescing-animal-repository.js';
import { TypeOrmAnimalRepository } from './animals/typeorm-animal-repository.js';
import { PostgresAnimalImporter } from './animals/postgres-animal-importer.js';
import { TypeOrmCategoryRepository } from './categories/typeorm-category-repository.js';
import { type DatabaseConnection, openDataSource } from './database/data-source.js';
import { migrate } from './database/migrate.js';
import { poolStateOf } from './database/prepared.js';
import { watchReadiness } from './database/readiness.js';
import { sharedSecret } from './database/shared-secret.js';
import { mailRisk } from './deliveries/mail-risk.js';
import { PostgresEventFeed } from './events/postgres-event-feed.js';
import { entitySchemas } from './entity-schemas.js';
import type { SmtpDelivery } from './deliveries/smtp-transport.js';
import { TypeOrmMessageQueue } from './messages/typeorm-message-queue.js';
import { TypeOrmOrderRepository } from './orders/typeorm-order-repository.js';
import { PostgresIdempotencyRecords } from './idempotency/postgres-idempotency-records.js';
import { createRequestCounter } from './limits/create-request-counter.js';
import { PostgresRequestRecords } from './limits/postgres-request-records.js';
import { TypeOrmSessionRepository } from './sessions/typeorm-session-repository.js';
import { Turns } from './turns/turns.js';
import { DeliveryIds } from './webhooks/delivery-ids.js';
import { HttpWebhookSender } from './webhooks/http-webhook-sender.js';
import { PostgresWebhookDeliveries } from './webhooks/postgres-webhook-deliveries.js';
import { PostgresWebhookQueue } from './webhooks/postgres-webhook-queue.js';
import { SecretCipher } from './webhooks/secret-cipher.js';
import { TypeOrmWebhookRepository } from './webhooks/typeorm-webhook-repository.js';
import { answerWithin } from './kernel/answers.js';
import { type Dependency, type DependencyChange, DependencyMonitor } from './kernel/dependency-monitor.js';
import { Lazy } from './kernel/lazy.js';
import { nodeCryptography, systemClock } from './kernel/node-platform.js';
import type { WebhookPolicy } from './webhooks/webhook-targets.js';

export interface InfrastructureConfig {
  /** The URL of the PostgreSQL (14 or later) to use. */
  readonly databaseUrl: string;
  /**
   * Set if `databaseUrl` is that of a pooler in transaction mode: the URL of the same database without the pooler.
   * Migrations and imports use it, because they need a session.
   */
  readonly directDatabaseUrl?: string | undefined;
  /** Called after all connections are closed, also if the database can't be used. */
  readonly closeDatabase?: () => Promise<void>;
  /** The most connections in the pool. One more checks whether the database answers, and one looks up keys. */
  readonly poolSize: number;
  /** The URL of a Redis, or of some nodes of a Redis Cluster, in which all instances count requests together. */
  readonly redis?: readonly string[] | undefined;
  /**
   * How this process delivers messages: by e-mail, or by calling a function. Undefined: it delivers none. Mails to
   * accounts are only delivered by e-mail.
   */
  readonly delivery?: SmtpDelivery | ((message: ClaimedMessage) => Promise<void>) | undefined;
  /** Encrypt the secrets of webhooks: the first one encrypts, all decrypt. Default: one stored in the database. */
  readonly webhookSecrets?: readonly string[] | undefined;
  readonly policy: AdapterPolicy;
  /** Which addresses webhooks may have. Default: only public ones. */
  readonly webhooks?: WebhookPolicy | undefined;
  /** Called with sentences for the operator. */
  readonly onEvent?: (message: string) => void;
  /** Called when a dependency is lost, once more if the loss lasts five seconds, and when it is back. */
  readonly onDependency?: ((change: DependencyChange) => void) | undefined;
}

/** Each check logs in to the mail server, which may allow few logins a minute. */
const SMTP_POLL = { interval: 20_000, timeout: 5_000 };

/** The state of the process, for metrics. */
export interface Readings {
  /**
   * Connections to PostgreSQL. `waiting` counts the callers that wait for one or for their turn, `givenUp` the
   * connections whose work goes on although its callers have been told that it takes too long.
   */
  readonly pool: Readonly<Record<'idle' | 'used' | 'size' | 'waiting' | 'givenUp', number>>;
  /** Requests that this process decided by itself because Redis did not answer. */
  readonly limitFallbacks: number;
  /** Refused requests that this process didn't record, because too many waited for the database. */
  readonly droppedFailedRequests: number;
  /** The dependencies of this process, and whether each answers. */
  readonly dependencies: ReadonlyMap<Dependency, boolean>;
  /** Milliseconds by which this process's clock is ahead of PostgreSQL's; undefined until PostgreSQL has answered. */
  readonly clockSkew: number | undefined;
}

export interface Infrastructure {
  readonly ports: Ports;
  /** In which an app's requests wait before they want a connection of the pool. */
  readonly turns: Turns;
  /** The secret of that name, which all processes on this database share. It is generated once. */
  readonly secret: (name: string) => Promise<string>;
  /** Whether the database answered the last check, as a primary. */
  readonly isReady: () => boolean;
  /** @throws Error if this process's clock is more than two minutes ahead of PostgreSQL's. */
  readonly checkClock: () => Promise<void>;
  readonly read: () => Readings;
  /** Closes every connection, then the database itself if `closeDatabase` was given. */
  readonly close: () => Promise<void>;
}

/**
 * The domain's ports on a migrated PostgreSQL.
 *
 * @throws Error with one sentence if the database can't be used.
 */
export async function openInfrastructure(config: InfrastructureConfig): Promise<Infrastructure> {
  const { databaseUrl, directDatabaseUrl, closeDatabase, poolSize: max } = config;
  const { onEvent = () => undefined, onDependency = () => undefined } = config;
  const direct = { connectionString: directDatabaseUrl ?? databaseUrl, max };
  const connection = { connectionString: databaseUrl, max, poolsTransactions: directDatabaseUrl !== undefined };
  // Closed in reverse order, so that each resource closes before those it uses.
  const opened: (() => unknown)[] = [() => closeDatabase?.()];
  const monitor = new DependencyMonitor(onDependency);
  const close = async () => {
    monitor.close();
    for (const closeOne of opened.splice(0).reverse()) await closeOne();
  };
  const name = closeDatabase === undefined ? 'DATABASE_URL' : 'DATA_DIR';
  let used = directDatabaseUrl === undefined ? name : 'DATABASE_DIRECT_URL';
  try {
    await migrate(direct, onEvent);
    used = name;
    const dataSource = await openDataSource(connection, entitySchemas);
    opened.push(() => dataSource.destroy());
    const readiness = watchReadiness(connection, dataSource, monitor);
    opened.push(() => readiness.close());
    const limits = await openLimits(config, dataSource, { monitor, onEvent });
    opened.push(limits.close);
    const senders = await openSenders(config, { monitor, onEvent });
    opened.push(senders.close);
    const turns = new Turns(max);
    return {
      ports: {
        ...storedPorts(dataSource, direct, config),
        requests: limits.counter,
        requestRecords: limits.records,
        messageSender: senders.messages,
        accountMailSender: senders.accountMails,
        webhookSender: new HttpWebhookSender(config.webhooks ?? { mayUseLocalhost: false }),
        passwordHasher: new Argon2PasswordHasher(),
        commonPasswords: new ZxcvbnCommonPasswords(),
        clock: systemClock,
        cryptography: nodeCryptography,
        domainToAscii: domainToASCII,
      },
      turns,
      secret: (name) => sharedSecret(dataSource, name),
      isReady: readiness.isReady,
      checkClock: readiness.checkClock,
      read: () => ({
        pool: withWaiting(poolStateOf(dataSource), turns.waitingCount),
        limitFallbacks: limits.fallbacks(),
        droppedFailedRequests: limits.records.droppedFailedRequests,
        dependencies: monitor.read(),
        clockSkew: readiness.clockSkew(),
      }),
      close,
    };
  } catch (error) {
    await close();
    throw explained(error, (used === 'DATABASE_DIRECT_URL' ? directDatabaseUrl : undefined) ?? databaseUrl, used);
  }
}

function withWaiting(pool: Readings['pool'], more: number): Readings['pool'] {
  return { ...pool, waiting: pool.waiting + more };
}

/** The ports whose adapters only need the database. */
function storedPorts(dataSource: DataSource, direct: DatabaseConnection, config: InfrastructureConfig) {
  const cipher = new Lazy(
    async () => new SecretCipher(config.webhookSecrets ?? [await sharedSecret(dataSource, 'webhooks')]),
  );
  const deliveryIds = new Lazy(async () => new DeliveryIds(await sharedSecret(dataSource, 'webhooks')));
  // Reads the secret now: a transaction that needs it later may hold the pool's only connection.
  void deliveryIds.get().catch(() => undefined);
  return {
    categories: new TypeOrmCategoryRepository(dataSource),
    animals: new CoalescingAnimalRepository(new TypeOrmAnimalRepository(dataSource, config.policy.categories)),
    animalImporter: new PostgresAnimalImporter(direct, config.policy.categories),
    orders: new TypeOrmOrderRepository(dataSource),
    messages: new TypeOrmMessageQueue(dataSource),
    events: new PostgresEventFeed(dataSource),
    accounts: new TypeOrmAccountRepository(dataSource),
    apiKeys: new TypeOrmApiKeyRepository(dataSource),
    deployment: new PostgresDeployment(dataSource),
    credentials: new TypeOrmCredentialRepository(dataSource),
    accountMails: new PostgresAccountMailQueue(dataSource),
    attempts: new PostgresAttemptCounter(dataSource),
    sessions: new TypeOrmSessionRepository(dataSource),
    webhooks: new TypeOrmWebhookRepository(dataSource, cipher),
    webhookDeliveries: new PostgresWebhookDeliveries(dataSource, deliveryIds),
    webhookQueue: new PostgresWebhookQueue(dataSource, cipher, deliveryIds),
    idempotency: new PostgresIdempotencyRecords(dataSource),
  };
}

interface Watchers {
  readonly monitor: DependencyMonitor;
  readonly onEvent: (message: string) => void;
}

/** What counts and records requests. */
async function openLimits(
  { redis, policy }: InfrastructureConfig,
  dataSource: DataSource,
  { monitor, onEvent }: Watchers,
) {
  const records = new PostgresRequestRecords(dataSource, onEvent);
  const onRedisState = (failure: unknown) => {
    monitor.record('redis', failure);
  };
  const requests = await createRequestCounter({ redis, dataSource, policy: policy.bans, onEvent, onRedisState });
  return {
    counter: requests.counter,
    fallbacks: requests.fallbacks,
    records,
    close: async () => {
      await requests.close();
      await records.close();
    },
  };
}

/** What delivers messages and mails to accounts. */
async function openSenders({ delivery }: InfrastructureConfig, { monitor, onEvent }: Watchers) {
  const risk = typeof delivery === 'object' ? mailRisk(delivery.smtpUrl) : undefined;
  if (risk !== undefined) onEvent(risk);
  const messages = await openMessageSender(delivery);
  if ('check' in messages) monitor.poll('smtp', () => messages.check(), SMTP_POLL);
  const accountMails = await openAccountMailSender(delivery);
  return {
    messages,
    accountMails,
    close: () => {
      messages.close();
      accountMails.close();
    },
  };
}

function explained(error: unknown, databaseUrl: string, setting: string): Error {
  // Without the user and the password.
  const { host, port, database } = new pg.Client(databaseUrl);
  const reason = reasonOf(error);
  const advice =
    setting === 'DATABASE_URL'
      ? ': set DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to the address of PostgreSQL itself'
      : ': it must be the address of PostgreSQL itself';
  // PostgreSQL accepts these parameters. If the server doesn't, it is a pooler.
  const rest = reason.startsWith('unsupported startup parameter') ? advice : '';
  const server = `${host}:${port}/${database ?? ''}`;
  return new Error(`the database of ${setting} (${server}) can't be used: ${reason}${rest}`, { cause: error });
}

// Loaded on demand, because loading the mailer takes a tenth of a second.

async function openAccountMailSender(delivery: InfrastructureConfig['delivery']) {
  if (typeof delivery !== 'object') return { send: async () => refuse(), close: () => undefined };
  const { SmtpAccountMailSender } = await import('./accounts/smtp-account-mail-sender.js');
  return new SmtpAccountMailSender(delivery);
}

async function openMessageSender(delivery: InfrastructureConfig['delivery'] = refuse) {
  if (typeof delivery === 'function') {
    const send = (message: ClaimedMessage, timeout: number) => answerWithin(timeout, delivery(message));
    return { send, close: () => undefined };
  }
  const { SmtpMessageSender } = await import('./messages/smtp-message-sender.js');
  return new SmtpMessageSender(delivery);
}

function refuse(): never {
  throw new Error('this process delivers no messages');
}
