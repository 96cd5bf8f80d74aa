import { CLOSING_TIME, tell, type Values, type workerSettings } from '@adoption-store/config';
import { type Application, type ClaimedMessage, createApplication, escapeInvisible } from '@adoption-store/domain';
import type { InfrastructureConfig } from '@adoption-store/infrastructure';
import type { OpenedApp } from '@adoption-store/store';
import { type Log, type Logger, servePages } from '@adoption-store/telemetry';
import { BackgroundJobs } from './background-jobs.js';
import { deliverAccountMails, deliverMessages, deliverWebhooks, requestOf } from './deliveries.js';
import { expireOrders, publishEvents, purgeExpired, reencryptSecrets } from './jobs.js';
import { WorkerMetrics } from './metrics.js';
import { tracingSender } from './tracing-message-sender.js';
import { within } from './waiting.js';

type Settings = Values<typeof workerSettings>;

/** Starts the worker's jobs. The returned function stops them. */
export async function startWorker({
  settings,
  log: serviceLog,
  tracing,
  store,
}: OpenedApp<Settings>): Promise<() => Promise<void>> {
  const { logger: log } = serviceLog;
  const mail = mailOf(settings);
  const { ports, policy, isReady, checkClock, read } = store;
  const metrics = new WorkerMetrics(ports.clock, read);
  metrics.watchLog(serviceLog);
  const sender = metrics.timing(ports.messageSender);
  const application = createApplication(
    { ...ports, messageSender: tracing === undefined ? sender : tracingSender(sender, tracing) },
    policy,
    {
      messageRetention: settings.MESSAGE_RETENTION,
      eventRetention: settings.EVENT_RETENTION,
      mailsAccounts: mail !== undefined,
      delivery: { lease: settings.MESSAGE_LEASE, attempts: settings.MESSAGE_ATTEMPTS },
    },
  );
  await announceMail(mail, application, log);
  const jobs = new BackgroundJobs(log, metrics.jobFailures);
  const health = await serveHealth(settings, {
    isReady: () => !jobs.areStopping && isReady(),
    metricsPage: () => metrics.pageWith(application, mail !== undefined),
  });
  const surroundings = { jobs, log, metrics, clock: ports.clock, checkClock };
  deliverMessages(surroundings, application.deliverMessages, settings.DELIVERY_CONCURRENCY);
  // Without a mail server, mails to accounts stay queued: they can't be logged, because links are secret.
  if (mail !== undefined) deliverAccountMails(surroundings, application.deliverAccountMails);
  const wakeWebhooks = deliverWebhooks(surroundings, application.deliverWebhooks);
  reencryptSecrets(surroundings, application.reencryptWebhooks);
  publishEvents(surroundings, application, wakeWebhooks);
  expireOrders(surroundings, application.expireOrders);
  purgeExpired(surroundings, application.purgeExpired);

  const way =
    mail === undefined ? 'messages are written to this log, because SMTP_URL is not set' : `messages go to ${mail.to}`;
  tell(`The worker is ready: ${way}, health at ${health.address}/readyz`);
  return async () => {
    // If a mail server hangs, it isn't waited for. Another worker sends the message once its lease has expired.
    await within(settings.SHUTDOWN_TIMEOUT - CLOSING_TIME, jobs.stop());
    health.close();
  };
}

/** Messages go to the mail server, or without one to the log. */
export function deliveryOf(settings: Settings, log: Log): InfrastructureConfig['delivery'] {
  return mailOf(settings) ?? writeTo(log);
}

/** How mails are sent. Undefined without a mail server. */
function mailOf({ SMTP_URL, MAIL_FROM, STORE_EMAIL, PORTAL_URL, SUPPORT_CONTACT, DELIVERY_CONCURRENCY }: Settings) {
  if (SMTP_URL === undefined || MAIL_FROM === undefined || STORE_EMAIL === undefined || PORTAL_URL === undefined)
    return undefined;
  return {
    smtpUrl: SMTP_URL,
    from: MAIL_FROM,
    to: STORE_EMAIL,
    portalUrl: PORTAL_URL,
    contact: SUPPORT_CONTACT,
    connections: DELIVERY_CONCURRENCY,
  };
}

/**
 * Records that mail can be sent, so that accounts begin with a proof of their address. A worker without a mail server
 * never takes that back: it may be one of several, and whoever signed up without a proof could use others' addresses.
 */
async function announceMail(
  mail: ReturnType<typeof mailOf>,
  { recordPortal, sendsMail }: Pick<Application, 'recordPortal' | 'sendsMail'>,
  log: Logger,
): Promise<void> {
  if (mail !== undefined) await recordPortal.execute(mail.portalUrl);
  else if (await sendsMail.execute())
    log.error('accounts begin with a mail, but this worker sends none, because SMTP_URL is not set');
}

interface Health {
  readonly isReady: () => boolean;
  readonly metricsPage: () => ReturnType<WorkerMetrics['pageWith']>;
}

function serveHealth({ WORKER_HOST: host, WORKER_PORT: port }: Settings, { isReady, metricsPage }: Health) {
  const ok = { status: 200, body: 'ok\n' };
  const notReady = { status: 503, body: 'not ready\n' };
  const pages = {
    '/livez': async () => ok,
    '/readyz': async () => (isReady() ? ok : notReady),
    '/metrics': metricsPage,
  };
  return servePages(pages, { host, port, hostSetting: 'WORKER_HOST', portSetting: 'WORKER_PORT' });
}

/** Delivers messages to the log, if there is no mail server. They are logged at any log level, so that none is lost. */
function writeTo(log: Log): (message: ClaimedMessage) => Promise<void> {
  return async ({ id, from, isProven, text, ...message }) => {
    await log.deliver({
      ...requestOf(message),
      message: id,
      from: escapeInvisible(from),
      unproven: !isProven || undefined,
      text,
      msg: 'a message to the store',
    });
  };
}
