import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { type Scopes, SCOPES } from '@adoption-store/domain';
import { databaseUrls } from './database-urls.js';
import { duration, integer, oneOf, type Setting, url, type Values } from './environment.js';
import { redisUrls } from './redis-urls.js';
import { CLOSING_TIME } from './service.js';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Settings of every app that opens the store. */
export const storeSettings = {
  DATABASE_URL: {
    default: undefined,
    about:
      'PostgreSQL (14 or later) to use, with commas between several hosts; without it the service runs its own in ' +
      '`DATA_DIR`',
    requiredBy: ['DATABASE_POOLER'],
    read: databaseUrls,
  },
  DATABASE_POOLER: {
    default: undefined,
    about: '`transaction` if `DATABASE_URL` leads to a pooler in transaction mode, such as PgBouncer',
    requiredBy: ['DATABASE_DIRECT_URL'],
    read: oneOf('transaction'),
  },
  DATABASE_DIRECT_URL: {
    default: undefined,
    about:
      'The same database without that pooler, for reads, migrations and notifications; required with `DATABASE_POOLER`',
    requiredBy: ['DATABASE_POOLER'],
    read: databaseUrls,
  },
  DATABASE_POOL_SIZE: {
    default: '10',
    about: 'Most connections to PostgreSQL, 1–1000',
    read: integer(1, 1_000),
  },
  DATA_DIR: {
    default: '.data',
    about: 'Folder of the embedded PostgreSQL and of the demo key',
    read: (text) => resolve(text),
  },
  KEY_ENVIRONMENT: {
    default: 'live',
    about: 'Kind of API keys that are issued and accepted: `live` or `staging`',
    read: oneOf('live', 'staging'),
  },
  CATEGORIES: {
    default: 'open',
    about: 'Whether animals may be put into categories that have no name: `open`, or `strict` to refuse that',
    read: oneOf('open', 'strict'),
  },
} as const satisfies Record<string, Setting<unknown>>;

/** Settings of every service. */
const serviceSettings = {
  ...storeSettings,
  LOG_LEVEL: {
    default: 'info',
    about: `One of ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}`,
    read: oneOf(...LOG_LEVELS),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    default: undefined,
    about: 'OpenTelemetry collector for traces, over OTLP/HTTP; without it there are no traces',
    read: url('http', 'https'),
  },
  SHUTDOWN_TIMEOUT: {
    default: '10s',
    about: 'Longest time from SIGTERM or Ctrl-C to the end of the process, `5s`–`10m`',
    read: duration('5s', '10m'),
  },
} as const satisfies Record<string, Setting<unknown>>;

/** Settings of the apps that count requests or show counts. */
const countingSettings = {
  REDIS_URL: {
    default: undefined,
    about:
      'Redis in which all instances count requests together, or nodes of a Redis Cluster, or Sentinels, with commas between ' +
      'them; without it each instance counts alone',
    requiredBy: ['REDIS_SENTINEL_NAME'],
    read: redisUrls,
  },
  REDIS_SENTINEL_NAME: {
    default: undefined,
    about: 'Name of the primary at the Sentinels of `REDIS_URL`, such as `mymaster`; without it they are Redis servers',
    requiredBy: ['REDIS_SENTINEL_PASSWORD'],
    read: redisName,
  },
  REDIS_SENTINEL_PASSWORD: {
    default: undefined,
    about: 'Password of the Sentinels, if they have one; the password in `REDIS_URL` is that of the Redis servers',
    read: (text) => text,
  },
  TRUST_PROXY: {
    default: undefined,
    about: 'Trusted proxies, such as `10.0.0.0/8,::1`: `X-Forwarded-For` is used only from these networks',
    read: networks,
  },
  PUBLIC_URL: {
    default: undefined,
    about: 'Address at which clients reach the API, without `/v1`; without it links are built from the `Host` header',
    read: origin,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** How Redis is reached; undefined where it isn't used. */
export function redisAddress(settings: Values<typeof countingSettings>) {
  const { REDIS_URL: urls, REDIS_SENTINEL_NAME: sentinelName, REDIS_SENTINEL_PASSWORD: sentinelPassword } = settings;
  return urls && { urls, sentinelName, sentinelPassword };
}

/** Settings of e-mail. The worker sends it; the portal and the commands need to know whether it is sent. */
const SUPPORT_CONTACT = {
  default: undefined,
  about: 'E-mail address or https URL of the operator, for pages and mails where only the operator can help',
  read: contact,
} as const;

const mailSettings = {
  SMTP_URL: {
    default: undefined,
    about:
      'Mail server that delivers messages to the store and mails to accounts; without it messages are written to the log, ' +
      'and passwords are not reset',
    read: url('smtp', 'smtps'),
  },
  MAIL_FROM: {
    default: undefined,
    about: 'Sender of the e-mails; required with `SMTP_URL`',
    requiredBy: ['SMTP_URL'],
    read: mailAddress,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** Settings of the operator's commands: the store, and whether addresses are proven by mail. */
export const commandSettings = {
  ...storeSettings,
  SMTP_URL: mailSettings.SMTP_URL,
} as const satisfies Record<string, Setting<unknown>>;

/** Settings of the apps that serve HTTP to others; the portal shows people where the API is. */
const webSettings = {
  HOST: { default: 'localhost', about: 'Address to listen on; `0.0.0.0` for all', read: hostName },
  PORT: { default: '3000', about: 'TCP port to listen on, 0–65535; 0 takes a free one', read: integer(0, 65_535) },
  ACCESS_LOG: { default: 'on', about: 'Whether each request is logged: `on` or `off`', read: oneOf('on', 'off') },
  LAME_DUCK: {
    default: '3s',
    about:
      'Time after SIGTERM in which requests are still accepted, until load balancers have noticed, `0s`–`5m`; ' +
      '`SHUTDOWN_TIMEOUT` must be at least 5 s longer',
    within: {
      setting: 'SHUTDOWN_TIMEOUT',
      // For the last requests, of at most 2 s, and for closing connections.
      less: 2_000 + CLOSING_TIME,
      rule: 'must be at least 5s shorter than SHUTDOWN_TIMEOUT',
    },
    read: duration('0s', '5m'),
  },
} as const satisfies Record<string, Setting<unknown>>;

const METRICS_HOST = { default: 'localhost', about: 'Address of the metrics endpoint', read: hostName } as const;

/** Settings of the API. */
export const apiSettings = {
  ...serviceSettings,
  ...webSettings,
  ...countingSettings,
  METRICS_HOST,
  METRICS_PORT: { default: '9464', about: 'TCP port of that address; 0 takes a free one', read: integer(0, 65_535) },
  ADDRESS_LIMIT: {
    default: '60',
    about: 'Requests a minute that one address may send without a valid key',
    read: integer(1, 1_000_000),
  },
  ORDER_LIMIT: {
    default: '100',
    about: 'Most orders of one account that are `placed` at the same time, 1–100000',
    read: integer(1, 100_000),
  },
  PORTAL_URL: {
    default: undefined,
    about: 'Address at which people reach the portal, for the links of the reference page',
    read: origin,
  },
  BAN_REFUSALS: {
    default: '50',
    about: 'Ban a key after this many refused requests in one minute',
    read: integer(1, 1_000_000),
  },
  BAN_SECONDS: {
    default: '300',
    about: 'Seconds of the first ban; each further ban within a day is twice as long; at most `BAN_SECONDS_MAX`',
    within: { setting: 'BAN_SECONDS_MAX', less: 0, rule: 'must not be more than BAN_SECONDS_MAX' },
    read: integer(1, 86_400),
  },
  BAN_SECONDS_MAX: { default: '3600', about: 'Seconds of the longest ban', read: integer(1, 86_400) },
} as const satisfies Record<string, Setting<unknown>>;

/** Settings of the portal. */
export const portalSettings = {
  ...serviceSettings,
  ...webSettings,
  ...countingSettings,
  SMTP_URL: mailSettings.SMTP_URL,
  PORTAL_HOST: { default: 'localhost', about: 'Address the portal listens on; `0.0.0.0` for all', read: hostName },
  PORTAL_PORT: { default: '3001', about: 'TCP port of that address; 0 takes a free one', read: integer(0, 65_535) },
  METRICS_HOST,
  PORTAL_METRICS_PORT: {
    default: '9465',
    about: "TCP port of the portal's metrics endpoint, at `METRICS_HOST`; 0 takes a free one",
    read: integer(0, 65_535),
  },
  PORTAL_URL: {
    default: undefined,
    about:
      'Address at which people reach the portal, for mailed links; required with both `SMTP_URL` and `DATABASE_URL`',
    requiredBy: ['SMTP_URL', 'DATABASE_URL'],
    read: origin,
  },
  PORTAL_SECRET: {
    default: undefined,
    about:
      'Secrets of at least 32 random characters, with commas between them, the same for all portals: the first signs, ' +
      'all verify; without it the database keeps one',
    read: secrets,
  },
  SUPPORT_CONTACT,
  SIGNUP_SCOPES: {
    default: 'all',
    about: `Scopes of accounts that sign up themselves: \`all\`, or some of ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}, with commas between them`,
    read: scopes,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** Settings of the worker. */
export const workerSettings = {
  ...serviceSettings,
  ...mailSettings,
  SUPPORT_CONTACT,
  WORKER_HOST: {
    default: 'localhost',
    about: "Address of the worker's health and metrics endpoints",
    read: hostName,
  },
  WORKER_PORT: { default: '3002', about: 'TCP port of that address; 0 takes a free one', read: integer(0, 65_535) },
  STORE_EMAIL: {
    default: undefined,
    about: 'Recipient of the messages, the store; required with `SMTP_URL`',
    requiredBy: ['SMTP_URL'],
    read: mailAddress,
  },
  DELIVERY_CONCURRENCY: {
    default: '8',
    about: 'Messages that are sent at the same time, 1–100',
    read: integer(1, 100),
  },
  MESSAGE_LEASE: {
    default: '30s',
    about: 'Time after which another worker takes the message of a killed one, `1s`–`1h`',
    read: duration('1s', '1h'),
  },
  MESSAGE_ATTEMPTS: {
    default: '16',
    about: 'Attempts after which a message has failed, 1–1000',
    read: integer(1, 1_000),
  },
  MESSAGE_RETENTION: {
    default: '90d',
    about: 'Time that a sent or failed message is kept after its creation, `1d`–`3650d`',
    read: duration('1d', '3650d'),
  },
  ORDER_TTL: {
    default: '48h',
    about: 'Time after which an order that is neither completed nor cancelled expires, `1s`–`365d`',
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

function contact(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text;
  try {
    return mailAddress(text);
  } catch {
    throw new Error('must be an e-mail address or a URL that starts with https://');
  }
}

function redisName(text: string): string {
  if (!/^[\w.-]+$/.test(text)) throw new Error('must be a name such as mymaster, of letters, digits and . - _');
  return text;
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

/** Undefined: all, also those that are added later. */
function scopes(text: string): Scopes {
  if (text === 'all') return undefined;
  const names = text.split(',').map((each) => each.trim());
  const list = SCOPES.filter((scope) => names.includes(scope));
  if (list.length !== names.length) throw new Error(`must be all, or some of ${SCOPES.join(', ')}, each at most once`);
  return list;
}

function mailAddress(text: string): string {
  if (!/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(text))
    throw new Error('must be an e-mail address, such as store@example.com');
  return text;
}
