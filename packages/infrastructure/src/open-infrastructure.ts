import { type BanPolicy, type ClaimedMessage, DEFAULT_BAN_POLICY, type Ports } from '@adoption-store/domain';
import pg from 'pg';
import { Argon2PasswordHasher } from './accounts/argon2-password-hasher.js';
import { PostgresAttemptCounter } from './accounts/postgres-attempt-counter.js';
import { createAccountAdapters } from './accounts/create-account-adapters.js';
import type { PasswordMail } from './accounts/smtp-password-mailer.js';
import { CoalescingAnimalRepository } from './animals/coalescing-animal-repository.js';
import { PostgresAnimalRepository } from './animals/postgres-animal-repository.js';
import { migrate, openDataSource } from './database/data-source.js';
import { poolStateOf } from './database/prepared.js';
import { readinessOf } from './database/readiness.js';
import { type Dependency, type DependencyChange, DependencyMonitor } from './kernel/dependency-monitor.js';
import { sharedSecret } from './database/shared-secret.js';
import { mailRisk } from './mail/mail-risk.js';
import type { SmtpDelivery } from './messages/smtp-message-sender.js';
import { TypeOrmMessageQueue } from './messages/typeorm-message-queue.js';
import { TypeOrmOrderRepository } from './orders/typeorm-order-repository.js';
import { PostgresIdempotencyRecords } from './idempotency/postgres-idempotency-records.js';
import { createRequestCounter } from './quotas/create-request-counter.js';
import { PostgresUsageRecords } from './quotas/postgres-usage-records.js';
import { PostgresSessionRepository } from './sessions/postgres-session-repository.js';
import { nodeCryptography } from './kernel/node-cryptography.js';
import { systemClock } from './kernel/system-clock.js';

export interface InfrastructureConfig {
  /** The PostgreSQL (14 or later) to use. */
  readonly databaseUrl: string;
  /** Called once every connection is closed, also where the database can't be used. */
  readonly closeDatabase?: () => Promise<void>;
  /** Connections at the most, besides those that listen: for changed keys once somebody has called, and for messages. */
  readonly poolSize: number;
  /** A Redis in which all instances count requests together; without it each counts for itself. */
  readonly redisUrl?: string | undefined;
  /** How this process delivers messages, by e-mail or by telling a function; without it, it delivers none. */
  readonly delivery?: SmtpDelivery | ((message: ClaimedMessage) => void) | undefined;
  /** How this process mails what resets a password; without it, nobody can reset one here. */
  readonly passwordMail?: PasswordMail | undefined;
  readonly banPolicy?: BanPolicy | undefined;
  /** Told what the operator should know, a sentence each. */
  readonly onEvent?: (message: string) => void;
  /** Called once when a dependency is lost, and once when it is back. */
  readonly onDependency?: (change: DependencyChange) => void;
}

/** Each check signs in to the mail server, which may allow few sign-ins a minute. */
const SMTP_POLL = { interval: 20_000, timeout: 5_000 };

/** How things stand, for the operator's metrics. */
export interface Readings {
  /** Connections to PostgreSQL; `waiting` are the callers that wait for one. */
  readonly pool: { readonly idle: number; readonly used: number; readonly size: number; readonly waiting: number };
  /** Requests that this process has decided by itself because Redis was lost. */
  readonly limitFallbacks: number;
  /** The dependencies that this process uses, and whether each of them answers. */
  readonly dependencies: ReadonlyMap<Dependency, boolean>;
}

export interface Infrastructure {
  readonly ports: Ports;
  /** The signing key that all processes on this database share, by use. Generated once. */
  readonly secret: (name: string) => Promise<string>;
  /** Whether the database answers within half a second. Never rejects. */
  readonly isReady: () => Promise<boolean>;
  readonly read: () => Readings;
  /** Closes every connection, then the database itself where that was asked for. */
  readonly close: () => Promise<void>;
}

/**
 * The domain's ports on a migrated PostgreSQL.
 *
 * @throws Error with one clear sentence where there is no database to be had.
 */
export async function openInfrastructure(config: InfrastructureConfig): Promise<Infrastructure> {
  const { databaseUrl, closeDatabase, poolSize: max, redisUrl, delivery, passwordMail } = config;
  const { banPolicy: policy = DEFAULT_BAN_POLICY, onEvent = () => undefined, onDependency = () => undefined } = config;
  const connection = { connectionString: databaseUrl, max };
  // Closed in the reverse order: each before what it needs.
  const opened: (() => unknown)[] = [() => closeDatabase?.()];
  const close = async () => {
    for (const closeOne of opened.splice(0).reverse()) await closeOne();
  };
  const monitor = new DependencyMonitor(onDependency);
  try {
    await migrate(connection);
    const dataSource = await openDataSource(connection);
    opened.push(() => dataSource.destroy());
    const smtpUrl = typeof delivery === 'object' ? delivery.smtpUrl : passwordMail?.smtpUrl;
    const risk = smtpUrl === undefined ? undefined : mailRisk(smtpUrl);
    if (risk !== undefined) onEvent(risk);
    const { close: closeAccounts, ...accounts } = createAccountAdapters(dataSource, connection);
    const usage = new PostgresUsageRecords(dataSource);
    const requests = await createRequestCounter({
      ...{ redisUrl, dataSource, policy, onEvent },
      onRedisState: (failure) => {
        monitor.record('redis', failure);
      },
    });
    const messages = new TypeOrmMessageQueue(dataSource, connection);
    const messageSender = await openMessageSender(delivery);
    if ('check' in messageSender) monitor.poll('smtp', () => messageSender.check(), SMTP_POLL);
    const passwordMailer = passwordMail && (await openPasswordMailer(passwordMail, onEvent));
    opened.push(async () => {
      monitor.close();
      await messages.close();
      messageSender.close();
      await passwordMailer?.close();
      await requests.close();
      await usage.close();
      await closeAccounts();
    });
    const ports: Ports = {
      animals: new CoalescingAnimalRepository(new PostgresAnimalRepository(dataSource)),
      orders: new TypeOrmOrderRepository(dataSource),
      messages,
      messageSender,
      ...accounts,
      attempts: new PostgresAttemptCounter(dataSource),
      sessions: new PostgresSessionRepository(dataSource),
      passwordHasher: new Argon2PasswordHasher(),
      passwordMailer,
      requests: requests.counter,
      usage,
      idempotency: new PostgresIdempotencyRecords(dataSource),
      clock: systemClock,
      cryptography: nodeCryptography,
    };
    return {
      ports,
      secret: (name) => sharedSecret(dataSource, name),
      isReady: readinessOf(dataSource, monitor),
      read: () => ({
        pool: poolStateOf(dataSource),
        limitFallbacks: requests.fallbacks(),
        dependencies: monitor.read(),
      }),
      close,
    };
  } catch (error) {
    await close();
    throw explained(error, databaseUrl, closeDatabase === undefined ? 'DATABASE_URL' : 'DATA_DIR');
  }
}

function explained(error: unknown, databaseUrl: string, setting: string): Error {
  // Never the user or the password.
  const { host, port, database } = new pg.Client(databaseUrl);
  const reasons: unknown[] = error instanceof AggregateError ? error.errors : [error];
  const reason = reasons.map((each) => (each instanceof Error ? each.message : String(each))).join('; ');
  return new Error(`the database of ${setting} (${host}:${port}/${database ?? ''}) can't be used: ${reason}`, {
    cause: error,
  });
}

// The mailers are loaded by whoever uses them alone: it takes a tenth of a second.

async function openPasswordMailer(mail: PasswordMail, onEvent: (message: string) => void) {
  const { SmtpPasswordMailer } = await import('./accounts/smtp-password-mailer.js');
  return new SmtpPasswordMailer(mail, onEvent);
}

async function openMessageSender(delivery: InfrastructureConfig['delivery'] = refuse) {
  if (typeof delivery === 'function') {
    const send = async (message: ClaimedMessage) => {
      delivery(message);
    };
    return { send, close: () => undefined };
  }
  const { SmtpMessageSender } = await import('./messages/smtp-message-sender.js');
  return new SmtpMessageSender(delivery);
}

function refuse(): never {
  throw new Error('this process delivers no messages');
}
