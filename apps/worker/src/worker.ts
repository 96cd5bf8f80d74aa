import { CLOSING_TIME, type Values, type workerSettings } from '@adoption-store/config';
import {
  type ClaimedMessage,
  createApplication,
  type Delivery,
  HOUR,
  PURGED_KINDS,
  SECOND,
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
import { every, Loops, reasonOf } from './loops.js';
import { WorkerMetrics } from './metrics.js';
import { Bell, within } from './pauses.js';
import { TracingMessageSender } from './tracing-message-sender.js';

/** Starts the loops that deliver messages, expire orders and delete old rows. The returned function stops them. */
export async function startWorker(settings: Values<typeof workerSettings>): Promise<() => Promise<void>> {
  const { logger: log } = await openLog({ service: 'worker', level: settings.LOG_LEVEL });
  const tracing = await openTracing('worker', settings.OTEL_EXPORTER_OTLP_ENDPOINT);
  const connections = settings.DELIVERY_CONCURRENCY;
  const { SMTP_URL: smtpUrl, MAIL_FROM: from, STORE_EMAIL: to } = settings;
  const mail =
    smtpUrl === undefined || from === undefined || to === undefined ? undefined : { smtpUrl, from, to, connections };
  const onEvent = (message: string) => {
    log.warn(message);
  };
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDirectory } = settings;
  const { ports, isReady, read, close } = await openInfrastructure({
    ...(await openDatabase({ databaseUrl, dataDirectory, onEvent })),
    poolSize: settings.DATABASE_POOL_SIZE,
    delivery: mail ?? writeTo(log),
    onEvent,
    onDependency: logDependencies({ logger: log }),
  });
  try {
    const metrics = new WorkerMetrics(ports.clock, read);
    const sender = metrics.timing(ports.messageSender);
    const application = createApplication(
      { ...ports, messageSender: tracing === undefined ? sender : new TracingMessageSender(sender, tracing) },
      {
        keyEnvironment: settings.KEY_ENVIRONMENT,
        orderTtl: settings.ORDER_TTL,
        messageRetention: settings.MESSAGE_RETENTION,
        delivery: { lease: settings.MESSAGE_LEASE, attempts: settings.MESSAGE_ATTEMPTS },
      },
    );
    const { deliverMessages, expireOrders, purgeExpired } = application;
    const loops = new Loops(log, metrics);
    const ok = { status: 200, body: 'ok\n' };
    const notReady = { status: 503, body: 'not ready\n' };
    const health = await servePages(
      {
        '/livez': async () => ok,
        '/readyz': async () => (!loops.areStopping && (await isReady()) ? ok : notReady),
        '/metrics': () => metrics.page(deliverMessages),
      },
      {
        host: settings.WORKER_HOST,
        port: settings.WORKER_PORT,
        hostSetting: 'WORKER_HOST',
        portSetting: 'WORKER_PORT',
      },
    );

    const mayBeDue = new Bell();
    const ring = () => {
      mayBeDue.ring();
    };
    const onDelivery = (delivery: Delivery) => {
      metrics.countDelivery(delivery);
      logDelivery(log, delivery);
    };
    for (let lane = 0; lane < settings.DELIVERY_CONCURRENCY; lane += 1)
      loops.start('deliver messages', {
        async work() {
          const { mayHaveMore } = await deliverMessages.execute(onDelivery, () => loops.areStopping);
          // Wakes another lane, so that as many lanes work as there is work for.
          if (mayHaveMore) ring();
          return mayHaveMore;
        },
        rest: (signal) => mayBeDue.heard(signal),
      });
    loops.start('expire orders', {
      async work() {
        const { expired, mayHaveMore } = await expireOrders.execute();
        metrics.ordersExpired.inc(expired.length);
        if (expired.length > 0) log.info({ orders: expired.map(({ id }) => String(id)) }, 'orders expired');
        return mayHaveMore;
      },
      rest: every(SECOND),
    });
    for (const kind of PURGED_KINDS) {
      metrics.purged.inc({ kind }, 0);
      loops.start(`purge ${kind}`, {
        async work() {
          metrics.purged.inc({ kind }, await purgeExpired.execute(kind));
          return false;
        },
        rest: every(HOUR),
      });
    }
    const unwatch = deliverMessages.watch(ring);
    // No notification arrives when a postponed message is due again, or when a killed worker's claim expires.
    const timer = setInterval(ring, SECOND);

    const way =
      mail === undefined
        ? 'messages are written to this log, because SMTP_URL is not set'
        : `messages go to ${mail.to}`;
    console.log(`The worker is ready: ${way}, health at ${health.address}/readyz`);
    return async () => {
      clearInterval(timer);
      // A mail server that hangs isn't waited for longer. Another worker sends the message once its lease has expired.
      await within(settings.SHUTDOWN_TIMEOUT - CLOSING_TIME, Promise.all([loops.stop(), unwatch()]));
      await close();
      health.close();
      await tracing?.close();
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Delivery without a mail server. It logs at any log level, because the messages are stored nowhere else. */
function writeTo(log: Logger): (message: ClaimedMessage) => void {
  const always = log.child({}, { level: 'info' });
  return ({ id, from, text, traceparent }) => {
    always.info({ ...traceOf(traceparent), message: id, from, text }, 'a message to the store');
  };
}

function logDelivery(log: Logger, delivery: Delivery): void {
  const { id: message, attempt, outcome, traceparent } = delivery;
  const trace = traceOf(traceparent);
  if (outcome === 'sent') log.info({ ...trace, message, attempt, outcome }, 'message sent');
  else {
    const level = outcome === 'failed' ? 'error' : 'warn';
    log[level]({ ...trace, message, attempt, outcome, reason: reasonOf(delivery.reason) }, `message ${outcome}`);
  }
}

/** The trace's id, as the API logged it. */
function traceOf(traceparent: string | undefined): { readonly trace_id?: string } {
  const trace = parseTraceparent(traceparent);
  return trace === undefined ? {} : { trace_id: trace.traceId };
}
