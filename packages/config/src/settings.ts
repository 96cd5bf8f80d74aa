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
  DATABASE_POOL_SIZE: {
    default: '10',
    description: 'Most connections to PostgreSQL, 1–1000',
    read: integer(1, 1_000),
  },
  DATA_DIR: {
    default: '.data',
    description: 'Folder of the embedded PostgreSQL and of the demo key',
    read: (text) => resolve(text),
  },
  KEY_ENVIRONMENT: {
    default: 'live',
    description: 'Kind of API keys that are issued and accepted: `live` or `staging`',
    read: oneOf('live', 'staging'),
  },
  CATEGORIES: {
    default: 'open',
    description: 'Whether animals may be put into categories that have no name: `open`, or `strict` to refuse that',
    read: oneOf('open', 'strict'),
  },
  ADDRESS_LIMIT: {
    default: '60',
    description: 'Requests a minute that one address may send without a valid key',
    read: integer(1, 1_000_000),
  },
  ORDER_LIMIT: {
    default: '100',
    description: 'Most orders of one account that are `placed` at the same time, 1–100000',
    read: integer(1, 100_000),
  },
  MESSAGE_LIMIT: {
    default: '1000',
    description: 'Most messages of one account that are `queued` at the same time, 1–100000',
    read: integer(1, 100_000),
  },
  BAN_REFUSALS: {
    default: '50',
    description: 'Ban a key after this many refused requests in one minute',
    read: integer(1, 1_000_000),
  },
  BAN_SECONDS: {
    default: '300',
    description: 'Seconds of the first ban; each further ban within a day is twice as long; at most `BAN_SECONDS_MAX`',
    within: { setting: 'BAN_SECONDS_MAX', less: 0, rule: 'must not be more than BAN_SECONDS_MAX' },
    read: integer(1, 86_400),
  },
  BAN_SECONDS_MAX: { default: '3600', description: 'Seconds of the longest ban', read: integer(1, 86_400) },
  WEBHOOK_SECRET: {
    default: undefined,
    description:
      "Encrypts webhooks' secrets: 32 random characters or more, or several with commas; else the database's own",
    read: secrets,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** Settings of every service. */
export const serviceSettings = {
  ...storeSettings,
  LOG_LEVEL: {
    default: 'info',
    description: `One of ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}`,
    read: oneOf(...LOG_LEVELS),
  },
  WEBHOOK_ALLOW: {
    default: undefined,
    description:
      'Networks, such as `10.1.0.0/16,fd00::/8`, that webhooks may reach too, also by `http` and at any port',
    read: networks,
  },
  SHUTDOWN_TIMEOUT: {
    default: '10s',
    description: 'Longest time from SIGTERM or Ctrl-C to the end of the process, `5s`–`10m`',
    read: duration('5s', '10m'),
  },
} as const satisfies Record<string, Setting<unknown>>;

/** Of the API and the worker. The portal has no traces. */
const OTEL_EXPORTER_OTLP_ENDPOINT = {
  default: undefined,
  description: 'OpenTelemetry collector for traces, over OTLP/HTTP; without it there are no traces',
  read: collectorUrl,
} as const;

/** Settings of the apps that count requests or show counts. */
const countingSettings = {
  REDIS_URL: {
    default: undefined,
    description:
      'Redis, or nodes of a Redis Cluster with commas, that counts for all instances; without it each counts alone',
    read: redisUrls,
  },
  TRUST_PROXY: {
    default: undefined,
    description: 'Trusted proxies, such as `10.0.0.0/8,::1`: `X-Forwarded-For` is used only from these networks',
    read: proxies,
  },
  PUBLIC_URL: {
    default: undefined,
    description:
      'Address at which clients reach the API, without `/v1`; without it links are built from the `Host` header',
    read: apiUrl,
  },
} as const satisfies Record<string, Setting<unknown>>;

const SUPPORT_CONTACT = {
  default: undefined,
  description:
    'E-mail address or https URL of the operator, for pages, mails and errors where only the operator can help',
  read: contact,
} as const;

/** Settings of the apps that clients reach by HTTP. The portal shows the API's address. */
const webSettings = {
  HOST: { default: 'localhost', description: 'Address to listen on; `0.0.0.0` for all', read: hostName },
  PORT: {
    default: '3000',
    description: 'TCP port to listen on, 0–65535; 0 takes a free one',
    read: integer(0, 65_535),
  },
  ACCESS_LOG: { default: 'on', description: 'Whether each request is logged: `on` or `off`', read: oneOf('on', 'off') },
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

const METRICS_HOST = { default: 'localhost', description: 'Address of the metrics endpoint', read: hostName } as const;

export const apiSettings = {
  ...serviceSettings,
  ...webSettings,
  ...countingSettings,
  OTEL_EXPORTER_OTLP_ENDPOINT,
  METRICS_HOST,
  METRICS_PORT: {
    default: '9464',
    description: 'TCP port of that address; 0 takes a free one',
    read: integer(0, 65_535),
  },
  CORS_ORIGINS: {
    default: '*',
    description:
      'Origins whose pages may call the API, such as `https://shop.example.com`, with commas; `*`: all; `none`',
    read: origins,
  },
  PORTAL_URL: {
    default: undefined,
    description: 'Address of the portal, for the links of the reference page',
    read: portalUrl,
  },
  SUPPORT_CONTACT,
} as const satisfies Record<string, Setting<unknown>>;

export const portalSettings = {
  ...serviceSettings,
  ...webSettings,
  ...countingSettings,
  PORTAL_HOST: {
    default: 'localhost',
    description: 'Address the portal listens on; `0.0.0.0` for all',
    read: hostName,
  },
  PORTAL_PORT: {
    default: '3001',
    description: 'TCP port of that address; 0 takes a free one',
    read: integer(0, 65_535),
  },
  METRICS_HOST,
  PORTAL_METRICS_PORT: {
    default: '9465',
    description: "TCP port of the portal's metrics endpoint, at `METRICS_HOST`; 0 takes a free one",
    read: integer(0, 65_535),
  },
  PORTAL_URL: {
    default: undefined,
    description: 'Address of the portal, without a path; its cookies are only for https if this is https',
    read: portalUrl,
  },
  PORTAL_SECRET: {
    default: undefined,
    description:
      "Signs sessions and forms: 32 random characters or more, or several with commas; else the database's own",
    read: secrets,
  },
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
  SMTP_URL: {
    default: undefined,
    description:
      'Mail server; without it messages to the store are written to the log, and [nobody signs up or resets a password](#mail)',
    read: mailUrl,
  },
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
  WORKER_HOST: {
    default: 'localhost',
    description: "Address of the worker's health and metrics endpoints",
    read: hostName,
  },
  WORKER_PORT: {
    default: '3002',
    description: 'TCP port of that address; 0 takes a free one',
    read: integer(0, 65_535),
  },
  STORE_EMAIL: {
    default: undefined,
    description: 'Recipient of the messages, the store; required with `SMTP_URL`',
    requiredBy: 'SMTP_URL',
    read: mailAddress,
  },
  DELIVERY_CONCURRENCY: {
    default: '8',
    description: 'Messages that are sent at the same time, 1–100',
    read: integer(1, 100),
  },
  MESSAGE_LEASE: {
    default: '30s',
    description: 'Time after which another worker takes the message of a killed one, `1s`–`1h`',
    read: duration('1s', '1h'),
  },
  MESSAGE_ATTEMPTS: {
    default: '16',
    description: 'Attempts after which a message has failed, 1–1000',
    read: integer(1, 1_000),
  },
  MESSAGE_RETENTION: {
    default: '90d',
    description: 'Time that a sent or failed message is kept after its creation, `1d`–`3650d`',
    read: duration('1d', '3650d'),
  },
  EVENT_RETENTION: {
    default: '30d',
    description: 'Time that an event is kept, `1d`–`3650d`',
    read: duration('1d', '3650d'),
  },
  ORDER_TTL: {
    default: '48h',
    description: 'Time after which an order that is neither completed nor cancelled expires, `1s`–`365d`',
    read: duration('1s', '365d'),
  },
} as const satisfies Record<string, Setting<unknown>>;
