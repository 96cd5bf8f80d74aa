import { CLOSING_TIME, type Values, type workerSettings } from '@adoption-store/config';
import {
  type AccountMailDelivery,
  type ClaimedMessage,
  createApplication,
  type Delivery,
  escapeInvisible,
  HOUR,
  type NewMessage,
  PURGED_KINDS,
  QUICK_TURN,
  SECOND,
  reasonOf,
  type WebhookAttempt,
} from '@adoption-store/domain';
import { openDatabase } from '@adoption-store/embedded-postgres';
import { openInfrastructure } from '@adoption-store/infrastructure';
import {
  logDependencies,
  type Logger,
  openLog,
  openTracing,
  parseTraceparent,
  servePages,
} from '@adoption-store/telemetry';
import { BackgroundJobs, every } from './background-jobs.js';
import { deliverQueue } from './deliveries/deliver-queue.js';
import { tracingSender } from './messages/tracing-message-sender.js';
import { WorkerMetrics } from './metrics.js';
import { within } from './waiting.js';
import { reencryptSecrets } from './webhooks/reencrypt-secrets.js';

/** Mails to accounts that are sent at the same time. */
const ACCOUNT_MAIL_CONCURRENCY = 2;
/** Receivers of webhooks that are called at the same time. Many, because a turn of one that hangs takes 15 s. */
const WEBHOOK_CONCURRENCY = 48;
/** Additional ones, only for receivers whose last turn was quick, so that they don't wait however many others hang. */
const QUICK_WEBHOOK_CONCURRENCY = 16;

/** Starts the worker's jobs. The returned function stops them. */
export async function startWorker(settings: Values<typeof workerSettings>): Promise<() => Promise<void>> {
  const { logger: log, close: closeLog } = await openLog({ service: 'worker', level: settings.LOG_LEVEL });
  const tracing = await openTracing('worker', settings.OTEL_EXPORTER_OTLP_ENDPOINT);
  const connections = settings.DELIVERY_CONCURRENCY;
  const { SMTP_URL: smtpUrl, MAIL_FROM: from, STORE_EMAIL: to, SUPPORT_CONTACT: contact } = settings;
  const mail =
    smtpUrl === undefined || from === undefined || to === undefined
      ? undefined
      : { smtpUrl, from, to, contact, connections };
  const onEvent = (message: string) => {
    log.warn(message);
  };
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDirectory } = settings;
  const { ports, isReady, checkClock, read, close } = await openInfrastructure({
    ...(await openDatabase({ databaseUrl, dataDirectory, onEvent })),
    directDatabaseUrl: settings.DATABASE_DIRECT_URL,
    poolSize: settings.DATABASE_POOL_SIZE,
    webhookSecrets: settings.WEBHOOK_SECRET,
    delivery: mail ?? writeTo(log),
    webhooks: { allow: settings.WEBHOOK_ALLOW, mayUseLocalhost: databaseUrl === undefined },
    onEvent,
    onDependency: logDependencies({ logger: log }),
  });
  try {
    const metrics = new WorkerMetrics(ports.clock, read);
    const sender = metrics.timing(ports.messageSender);
    const application = createApplication(
      { ...ports, messageSender: tracing === undefined ? sender : tracingSender(sender, tracing) },
      {
        keyEnvironment: settings.KEY_ENVIRONMENT,
        orderTtl: settings.ORDER_TTL,
        messageRetention: settings.MESSAGE_RETENTION,
        eventRetention: settings.EVENT_RETENTION,
        mailsAccounts: mail !== undefined,
        delivery: { lease: settings.MESSAGE_LEASE, attempts: settings.MESSAGE_ATTEMPTS },
      },
    );
    const { deliverMessages, deliverAccountMails, deliverWebhooks, expireOrders, publishEvents, purgeExpired } =
      application;
    const jobs = new BackgroundJobs(log, metrics.jobFailures);
    const ok = { status: 200, body: 'ok\n' };
    const notReady = { status: 503, body: 'not ready\n' };
    const health = await servePages(
      {
        '/livez': async () => ok,
        '/readyz': async () => (!jobs.areStopping && (await isReady()) ? ok : notReady),
        '/metrics': () => metrics.pageWith({ deliverMessages, deliverAccountMails, deliverWebhooks, publishEvents }),
      },
      {
        host: settings.WORKER_HOST,
        port: settings.WORKER_PORT,
        hostSetting: 'WORKER_HOST',
        portSetting: 'WORKER_PORT',
      },
    );

    const onMessageAttempt = (attempt: Delivery) => {
      metrics.deliveries.inc({ outcome: attempt.outcome });
      logAttempt(log, 'message', { ...requestOf(attempt), message: attempt.id }, attempt);
    };
    deliverQueue(jobs, {
      name: 'deliver messages',
      concurrency: settings.DELIVERY_CONCURRENCY,
      deliver: async (isStopping, onMore) =>
        deliverMessages.execute({ onAttempt: onMessageAttempt, isStopping, onMore }),
    });
    const onMailAttempt = (attempt: AccountMailDelivery) => {
      metrics.accountMails.inc({ kind: attempt.kind, outcome: attempt.outcome });
      // Never the address or the link.
      logAttempt(log, 'account mail', { mail: attempt.id, kind: attempt.kind }, attempt);
    };
    // Without a mail server, mails to accounts stay queued: unlike messages they can't be logged, because links are
    // secret.
    if (mail !== undefined) {
      deliverQueue(jobs, {
        name: 'deliver account mails',
        concurrency: ACCOUNT_MAIL_CONCURRENCY,
        deliver: async (isStopping, onMore) =>
          deliverAccountMails.execute({ onAttempt: onMailAttempt, isStopping, onMore }),
      });
    }
    const onWebhookAttempt = (attempt: WebhookAttempt) => {
      metrics.webhookDeliveries.inc({ outcome: attempt.outcome });
      // Never the URL, whose path or query may be secret. A failure is the receiver's problem, so it is no warning.
      const fields = { webhook: attempt.webhookId, delivery: attempt.id, event: attempt.type };
      logAttempt(log, 'webhook delivery', fields, attempt, { sent: 'debug', postponed: 'info', failed: 'info' });
    };
    const wakeQuick = deliverQueue(jobs, {
      name: 'deliver to quick webhooks',
      concurrency: QUICK_WEBHOOK_CONCURRENCY,
      deliver: async (_isStopping, onMore) => deliverWebhooks.execute(onWebhookAttempt, onMore, QUICK_TURN),
    });
    const wakeAny = deliverQueue(jobs, {
      name: 'deliver webhooks',
      concurrency: WEBHOOK_CONCURRENCY,
      deliver: async (_isStopping, onMore) => deliverWebhooks.execute(onWebhookAttempt, onMore),
    });
    reencryptSecrets(jobs, application.reencryptWebhooks, { log, unreadable: metrics.unreadableWebhooks });
    jobs.start({
      name: 'publish events',
      async work() {
        const { mayHaveMore } = await publishEvents.execute();
        if ((await application.wakeWebhooks.execute()) > 0) {
          wakeQuick();
          wakeAny();
        }
        return mayHaveMore;
      },
      rest: every(SECOND),
    });
    jobs.start({
      name: 'expire orders',
      async work() {
        // A clock that is ahead would expire orders too early. Below, it would delete rows that are still needed.
        await checkClock();
        const { expired, mayHaveMore } = await expireOrders.execute();
        metrics.ordersExpired.inc(expired.length);
        if (expired.length > 0) log.info({ orders: expired.map(({ id }) => String(id)) }, 'orders expired');
        return mayHaveMore;
      },
      rest: every(SECOND),
    });
    for (const kind of PURGED_KINDS) {
      metrics.purged.inc({ kind }, 0);
      const isUpToDate = () => {
        metrics.purgeCompleted.set({ kind }, ports.clock.now() / SECOND);
      };
      isUpToDate();
      jobs.start({
        name: `purge ${kind}`,
        async work() {
          await checkClock();
          metrics.purged.inc({ kind }, await purgeExpired.execute(kind));
          isUpToDate();
          return false;
        },
        rest: every(HOUR),
      });
    }

    const way =
      mail === undefined
        ? 'messages are written to this log, because SMTP_URL is not set'
        : `messages go to ${mail.to}`;
    console.error(`The worker is ready: ${way}, health at ${health.address}/readyz`);
    return async () => {
      // If a mail server hangs, it isn't waited for. Another worker sends the message once its lease has expired.
      await within(settings.SHUTDOWN_TIMEOUT - CLOSING_TIME, jobs.stop());
      await close();
      health.close();
      await tracing?.close();
      await closeLog();
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Delivers messages to the log, if there is no mail server. They are logged at any log level, so that none is lost. */
function writeTo(log: Logger): (message: ClaimedMessage) => void {
  const always = log.child({}, { level: 'info' });
  return ({ id, from, isProven, text, ...message }) => {
    always.info(
      { ...requestOf(message), message: id, from: escapeInvisible(from), unproven: !isProven || undefined, text },
      'a message to the store',
    );
  };
}

const LEVELS = { sent: 'info', dropped: 'info', postponed: 'warn', failed: 'error' } as const;

/** Logs an attempt with these fields. */
function logAttempt(
  log: Logger,
  item: string,
  fields: object,
  delivery: Delivery | AccountMailDelivery | WebhookAttempt,
  levels: Partial<Record<Delivery['outcome'], 'debug' | 'info'>> = {},
): void {
  const { attempt, outcome } = delivery;
  const reason = 'reason' in delivery ? { reason: reasonOf(delivery.reason) } : {};
  log[levels[outcome] ?? LEVELS[outcome]]({ ...fields, attempt, outcome, ...reason }, `${item} ${outcome}`);
}

/**
 * The ids of the request that queued the message, as the API logged them. A property that is undefined isn't logged.
 */
function requestOf({ requestId, traceparent }: Pick<NewMessage, 'requestId' | 'traceparent'>) {
  return { request_id: requestId, trace_id: parseTraceparent(traceparent)?.traceId };
}
