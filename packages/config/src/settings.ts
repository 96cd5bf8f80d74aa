import { resolve } from 'node:path';
import { SCOPES } from '@adoption-store/domain';
import { duration, integer, oneOf, type Setting } from './environment.js';
import {
  apiUrl,
  collectorUrl,
  contact,
  databaseUrl,
  hostName,
  mailAddress,
  mailUrl,
  networks,
  origins,
  portalUrl,
  proxies,
  redisUrls,
  scopes,
  secrets,
} from './readers.js';
import { CLOSING_TIME } from './service.js';

/** @param standard the default. */
function setting<Value>(standard: string, description: string, read: (text: string) => Value) {
  return { default: standard, description, read };
}

/** A setting without a default. */
function optional<Value>(description: string, read: (text: string) => Value) {
  return { default: undefined, description, read };
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Settings of every app that uses the database. The operator's commands need no others. */
export const storeSettings = {
  DATABASE_URL: {
    default: undefined,
    description: 'PostgreSQL (14 or later) to use; without it the service runs its own in `DATA_DIR`',
    requiredBy: 'DATABASE_POOLER',
    read: databaseUrl,
  },
  DATABASE_POOLER: {
    default: undefined,
    description: '`transaction` if `DATABASE_URL` leads to a pooler in transaction mode, such as PgBouncer',
    requiredBy: 'DATABASE_DIRECT_URL',
    read: oneOf('transaction'),
  },
  DATABASE_DIRECT_URL: {
    default: undefined,
    description: 'The same database without that pooler, for migrations and imports; required with `DATABASE_POOLER`',
    requiredBy: 'DATABASE_POOLER',
    read: databaseUrl,
  },
  DATABASE_POOL_SIZE: setting('10', 'Most connections to PostgreSQL, 1–1000', integer(1, 1_000)),
  DATA_DIR: setting('.data', 'Folder of the embedded PostgreSQL and of the demo key', (text) => resolve(text)),
  KEY_ENVIRONMENT: setting(
    'live',
    'Kind of API keys that are issued and accepted: `live` or `staging`',
    oneOf('live', 'staging'),
  ),
  CATEGORIES: setting(
    'open',
    'Whether animals may be put into categories that have no name: `open`, or `strict` to refuse that',
    oneOf('open', 'strict'),
  ),
  ADDRESS_LIMIT: setting(
    '60',
    'Requests a minute that one address may send without a valid key',
    integer(1, 1_000_000),
  ),
  ORDER_LIMIT: setting(
    '100',
    'Most orders of one account that are `placed` at the same time, 1–100000',
    integer(1, 100_000),
  ),
  ORDER_TTL: setting(
    '48h',
    'Time after which an order that is neither completed nor cancelled expires, `1s`–`365d`',
    duration('1s', '365d'),
  ),
  MESSAGE_LIMIT: setting(
    '1000',
    'Most messages of one account that are `queued` at the same time, 1–100000',
    integer(1, 100_000),
  ),
  BAN_REFUSALS: setting('50', 'Ban a key after this many refused requests in one minute', integer(1, 1_000_000)),
  BAN_SECONDS: {
    default: '300',
    description: 'Seconds of the first ban; each further ban within a day is twice as long; at most `BAN_SECONDS_MAX`',
    within: { setting: 'BAN_SECONDS_MAX', less: 0, rule: 'must not be more than BAN_SECONDS_MAX' },
    read: integer(1, 86_400),
  },
  BAN_SECONDS_MAX: setting('3600', 'Seconds of the longest ban', integer(1, 86_400)),
  WEBHOOK_SECRET: optional(
    "Encrypts webhooks' secrets: 32 random characters or more, or several with commas; else the database's own",
    secrets,
  ),
} as const satisfies Record<string, Setting<unknown>>;

export const serviceSettings = {
  ...storeSettings,
  LOG_LEVEL: setting('info', `One of ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}`, oneOf(...LOG_LEVELS)),
  WEBHOOK_ALLOW: optional(
    'Networks, such as `10.1.0.0/16,fd00::/8`, that webhooks may reach too, also by `http` and at any port',
    networks,
  ),
  SHUTDOWN_TIMEOUT: setting(
    '10s',
    'Longest time from SIGTERM or Ctrl-C to the end of the process, `5s`–`10m`',
    duration('5s', '10m'),
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** Of the API and the worker. The portal has no traces. */
const OTEL_EXPORTER_OTLP_ENDPOINT = optional(
  'OpenTelemetry collector for traces, over OTLP/HTTP; without it there are no traces',
  collectorUrl,
);

/** Settings of the apps that count requests or show counts. */
const countingSettings = {
  REDIS_URL: optional(
    'Redis, or nodes of a Redis Cluster with commas, that counts for all instances; without it each counts alone',
    redisUrls,
  ),
  TRUST_PROXY: optional(
    'Trusted proxies, such as `10.0.0.0/8,::1`: `X-Forwarded-For` is used only from these networks',
    proxies,
  ),
  PUBLIC_URL: optional(
    'Address at which clients reach the API, without `/v1`; without it links are built from the `Host` header',
    apiUrl,
  ),
} as const satisfies Record<string, Setting<unknown>>;

const SUPPORT_CONTACT = optional(
  'E-mail address or https URL of the operator, for pages, mails and errors where only the operator can help',
  contact,
);

/** Settings of the apps that clients reach by HTTP. The portal shows the API's address. */
const webSettings = {
  HOST: setting('localhost', 'Address to listen on; `0.0.0.0` for all', hostName),
  PORT: setting('3000', 'TCP port to listen on, 0–65535; 0 takes a free one', integer(0, 65_535)),
  ACCESS_LOG: setting('on', 'Whether each request is logged: `on` or `off`', oneOf('on', 'off')),
  LAME_DUCK: {
    default: '3s',
    description:
      'Time after SIGTERM in which requests are taken, `0s`–`5m`, 5 s less than `SHUTDOWN_TIMEOUT`; none under `npm start`',
    within: {
      setting: 'SHUTDOWN_TIMEOUT',
      // 2 s for the last requests, and the time for closing connections.
      less: 2_000 + CLOSING_TIME,
      rule: 'must be at least 5s shorter than SHUTDOWN_TIMEOUT',
    },
    read: duration('0s', '5m'),
  },
} as const satisfies Record<string, Setting<unknown>>;

const METRICS_HOST = setting('localhost', 'Address of the metrics endpoint', hostName);

export const apiSettings = {
  ...serviceSettings,
  ...webSettings,
  ...countingSettings,
  OTEL_EXPORTER_OTLP_ENDPOINT,
  METRICS_HOST,
  METRICS_PORT: setting('9464', 'TCP port of that address; 0 takes a free one', integer(0, 65_535)),
  CORS_ORIGINS: setting(
    '*',
    'Origins whose pages may call the API, such as `https://shop.example.com`, with commas; `*`: all; `none`',
    origins,
  ),
  PORTAL_URL: optional('Address of the portal, for the links of the reference page', portalUrl),
  SUPPORT_CONTACT,
} as const satisfies Record<string, Setting<unknown>>;

export const portalSettings = {
  ...serviceSettings,
  ...webSettings,
  ...countingSettings,
  PORTAL_HOST: setting('localhost', 'Address the portal listens on; `0.0.0.0` for all', hostName),
  PORTAL_PORT: setting('3001', 'TCP port of that address; 0 takes a free one', integer(0, 65_535)),
  METRICS_HOST,
  PORTAL_METRICS_PORT: setting(
    '9465',
    "TCP port of the portal's metrics endpoint, at `METRICS_HOST`; 0 takes a free one",
    integer(0, 65_535),
  ),
  PORTAL_URL: optional(
    'Address of the portal, without a path; its cookies are only for https if this is https',
    portalUrl,
  ),
  PORTAL_SECRET: optional(
    "Signs sessions and forms: 32 random characters or more, or several with commas; else the database's own",
    secrets,
  ),
  SUPPORT_CONTACT,
  SIGNUP_SCOPES: {
    default: 'all',
    // A visitor of the embedded database is the operator.
    defaultWith: { setting: 'DATABASE_URL', default: SCOPES.filter((scope) => scope !== 'pets:manage').join(',') },
    description:
      '[Scopes](../apps/api/README.md#scopes) of accounts that sign up themselves: `all`, or some with commas; by default with `DATABASE_URL` all but `pets:manage`',
    read: scopes,
  },
} as const satisfies Record<string, Setting<unknown>>;

export const workerSettings = {
  ...serviceSettings,
  SMTP_URL: optional(
    'Mail server; without it messages to the store are written to the log, and [nobody signs up or resets a password](#mail)',
    mailUrl,
  ),
  MAIL_FROM: {
    default: undefined,
    description: 'Sender of the e-mails, whose domain greets the mail server; required with `SMTP_URL`',
    requiredBy: 'SMTP_URL',
    read: mailAddress,
  },
  PORTAL_URL: {
    default: undefined,
    description: 'Address of the portal, without a path, for mailed links; required with `SMTP_URL`',
    requiredBy: 'SMTP_URL',
    read: portalUrl,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT,
  SUPPORT_CONTACT,
  WORKER_HOST: setting('localhost', "Address of the worker's health and metrics endpoints", hostName),
  WORKER_PORT: setting('3002', 'TCP port of that address; 0 takes a free one', integer(0, 65_535)),
  STORE_EMAIL: {
    default: undefined,
    description: 'Recipient of the messages, the store; required with `SMTP_URL`',
    requiredBy: 'SMTP_URL',
    read: mailAddress,
  },
  DELIVERY_CONCURRENCY: setting('8', 'Messages that are sent at the same time, 1–100', integer(1, 100)),
  MESSAGE_LEASE: setting(
    '30s',
    'Time after which another worker takes the message of a killed one, `1s`–`1h`',
    duration('1s', '1h'),
  ),
  MESSAGE_ATTEMPTS: setting('16', 'Attempts after which a message has failed, 1–1000', integer(1, 1_000)),
  MESSAGE_RETENTION: setting(
    '90d',
    'Time that a sent or failed message is kept after its creation, `1d`–`3650d`',
    duration('1d', '3650d'),
  ),
  EVENT_RETENTION: setting('30d', 'Time that an event is kept, `1d`–`3650d`', duration('1d', '3650d')),
} as const satisfies Record<string, Setting<unknown>>;
