import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { duration, integer, oneOf, type Setting, url } from './environment.js';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** What every app needs that works on the store. */
export const storeSettings = {
  DATABASE_URL: {
    default: undefined,
    about: 'PostgreSQL (14 or later) to use; without it the service runs one of its own in `DATA_DIR`',
    read: url('postgres', 'postgresql'),
  },
  DATABASE_POOL_SIZE: {
    default: '10',
    about: 'Connections to PostgreSQL at the most, 1–1000',
    read: integer(1, 1_000),
  },
  DATA_DIR: {
    default: '.data',
    about: 'Folder of the PostgreSQL of our own, and of the demo key',
    read: (text) => resolve(text),
  },
  KEY_ENVIRONMENT: {
    default: 'live',
    about: 'Which API keys are issued and taken: `live` or `staging`',
    read: oneOf('live', 'staging'),
  },
} as const satisfies Record<string, Setting<unknown>>;

/** What every service needs beyond that. */
const serviceSettings = {
  ...storeSettings,
  LOG_LEVEL: {
    default: 'info',
    about: `One of ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}`,
    read: oneOf(...LOG_LEVELS),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    default: undefined,
    about: 'OpenTelemetry collector that traces are sent to, over OTLP/HTTP; without it there are none',
    read: url('http', 'https'),
  },
  SHUTDOWN_TIMEOUT: {
    default: '10s',
    about: 'Time from SIGTERM or Ctrl-C to the end at the latest, `5s`–`10m`',
    read: duration('5s', '10m'),
  },
} as const satisfies Record<string, Setting<unknown>>;

/** What those need who tell how accounts stand. */
const countingSettings = {
  REDIS_URL: {
    default: undefined,
    about: 'Redis in which all instances count requests together; without it each counts for itself',
    read: url('redis', 'rediss'),
  },
  TRUST_PROXY: {
    default: undefined,
    about: 'Networks, such as `10.0.0.0/8,::1`, whose `X-Forwarded-For` is believed; none without it',
    read: networks,
  },
  PUBLIC_URL: {
    default: undefined,
    about: 'Address clients reach the service at, without `/v1`; without it links are built from the `Host` header',
    read: origin,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** What those need who send e-mail. */
const mailSettings = {
  SMTP_URL: {
    default: undefined,
    about: 'Mail server that delivers messages to the store; without it they are written to the log',
    read: url('smtp', 'smtps'),
  },
  MAIL_FROM: {
    default: undefined,
    about: 'Sender of these e-mails; required by `SMTP_URL`',
    requiredBy: ['SMTP_URL'],
    read: mailAddress,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** What the operator's commands read: where the store is, and whether addresses are proven by mail. */
export const commandSettings = {
  ...storeSettings,
  SMTP_URL: mailSettings.SMTP_URL,
} as const satisfies Record<string, Setting<unknown>>;

/** What those need who serve HTTP to others; the portal tells people where the API is. */
const webSettings = {
  HOST: { default: 'localhost', about: 'Address to listen on; `0.0.0.0` for all', read: hostName },
  PORT: { default: '3000', about: 'TCP port to listen on, 0–65535; 0 takes a free one', read: integer(0, 65_535) },
  ACCESS_LOG: { default: 'on', about: 'Whether each request is logged: `on` or `off`', read: oneOf('on', 'off') },
  LAME_DUCK: {
    default: '3s',
    about: 'Time from SIGTERM on that requests are still taken, so that load balancers can turn away, `0s`–`5m`',
    read: duration('0s', '5m'),
  },
} as const satisfies Record<string, Setting<unknown>>;

/** What the API needs beyond that. */
export const apiSettings = {
  ...serviceSettings,
  ...webSettings,
  ...countingSettings,
  METRICS_HOST: { default: 'localhost', about: 'Address the API tells its metrics at', read: hostName },
  METRICS_PORT: { default: '9464', about: 'TCP port of that address; 0 takes a free one', read: integer(0, 65_535) },
  ADDRESS_LIMIT: {
    default: '60',
    about: 'Requests a minute that one address may send without a valid key',
    read: integer(1, 1_000_000),
  },
  ORDER_LIMIT: {
    default: '100',
    about: 'Orders that one account may have placed at a time, 1–100000',
    read: integer(1, 100_000),
  },
  BAN_REFUSALS: {
    default: '50',
    about: 'So many refusals of one key within a minute ban it',
    read: integer(1, 1_000_000),
  },
  BAN_SECONDS: {
    default: '300',
    about: 'Length of a first ban; each further one within a day is twice as long',
    read: integer(1, 86_400),
  },
  BAN_SECONDS_MAX: { default: '3600', about: 'Length of a ban at the most', read: integer(1, 86_400) },
} as const satisfies Record<string, Setting<unknown>>;

/** What the portal needs beyond what every service does. */
export const portalSettings = {
  ...serviceSettings,
  ...webSettings,
  ...countingSettings,
  ...mailSettings,
  PORTAL_HOST: { default: 'localhost', about: 'Address the portal listens on; `0.0.0.0` for all', read: hostName },
  PORTAL_PORT: { default: '3001', about: 'TCP port of that address; 0 takes a free one', read: integer(0, 65_535) },
  PORTAL_URL: {
    default: undefined,
    about: 'Address people reach the portal at, for mailed links; required by `SMTP_URL` and `DATABASE_URL`',
    requiredBy: ['SMTP_URL', 'DATABASE_URL'],
    read: origin,
  },
  PORTAL_SECRET: {
    default: undefined,
    about:
      'At least 32 random characters that sign, the same for all portals; several, with commas between: the first ' +
      'signs, all verify; else the database has some',
    read: secrets,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** What the worker needs beyond what every service does. */
export const workerSettings = {
  ...serviceSettings,
  ...mailSettings,
  WORKER_HOST: {
    default: 'localhost',
    about: 'Address the worker tells its health and metrics at',
    read: hostName,
  },
  WORKER_PORT: { default: '3002', about: 'TCP port of that address; 0 takes a free one', read: integer(0, 65_535) },
  STORE_EMAIL: {
    default: undefined,
    about: 'Their recipient, the store; required by `SMTP_URL`',
    requiredBy: ['SMTP_URL'],
    read: mailAddress,
  },
  DELIVERY_CONCURRENCY: { default: '8', about: 'Messages sent at the same time, 1–100', read: integer(1, 100) },
  MESSAGE_LEASE: {
    default: '30s',
    about: 'Time after which a message goes to another worker if its own was killed, `1s`–`1h`',
    read: duration('1s', '1h'),
  },
  MESSAGE_ATTEMPTS: {
    default: '16',
    about: 'A message that could not be sent so many times has failed, 1–1000',
    read: integer(1, 1_000),
  },
  MESSAGE_RETENTION: {
    default: '90d',
    about: 'Time that a message is kept once it is sent or has failed, `1d`–`3650d`',
    read: duration('1d', '3650d'),
  },
  ORDER_TTL: {
    default: '48h',
    about: 'Time after which an order that nobody has completed or cancelled expires, `1s`–`365d`',
    read: duration('1s', '365d'),
  },
} as const satisfies Record<string, Setting<unknown>>;

const HOST_NAME = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

function hostName(text: string): string {
  if (isIP(text) === 0 && !HOST_NAME.test(text)) throw new Error('must be a host name or an IP address');
  return text;
}

function origin(text: string): string {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || /[?#]/.test(text) || parsed.username !== '') {
    throw new Error('must be a URL that starts with http:// or https://, without query or fragment');
  }
  return text.replace(/\/+$/, '');
}

function networks(text: string): readonly string[] {
  const list = text.split(',').map((each) => each.trim());
  if (!list.every(isNetwork))
    throw new Error('must be addresses or networks, such as 10.0.0.0/8, with commas between them');
  return list;
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  const longest = version === 4 ? 32 : 128;
  return (
    version !== 0 &&
    rest.length === 0 &&
    (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= longest))
  );
}

function secrets(text: string): readonly string[] {
  const list = text.split(',').map((each) => each.trim());
  if (!list.every((each) => each.length >= 32))
    throw new Error('must be at least 32 characters, such as `openssl rand -hex 32` gives');
  return list;
}

function mailAddress(text: string): string {
  if (!/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(text))
    throw new Error('must be an e-mail address, such as store@example.com');
  return text;
}
