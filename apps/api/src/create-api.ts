import 'reflect-metadata';
import { Admission } from '@adoption-store/admission';
import type { Application, Clock } from '@adoption-store/domain';
import { Turns } from '@adoption-store/infrastructure/turns';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { Log, Tracing } from '@adoption-store/telemetry';
import { nestLogger, serveHealth } from '@adoption-store/web';
import { dropInvalidForwarding, RouteTable, serverOptions, SocketFaults } from '@adoption-store/web/edge';
import { ApiModule, OPERATIONS } from './api.module.js';
import { serveDocs } from './docs/docs-routes.js';
import { ApiContext } from './http/answers/api-context.js';
import { Cors, type CorsOrigins, readableBy } from './http/edge/cors.js';
import { servePublicly } from './http/edge/public-route.js';
import { requestId } from './http/edge/request-id.js';
import { addRequestHooks, routeEveryMethod } from './http/edge/request-hooks.js';
import { SocketErrors } from './http/edge/socket-errors.js';
import { AccessLog } from './http/edge/access-log.js';
import { ApiMetrics } from './http/edge/metrics.js';
import type { RequestObserver } from './http/edge/observers.js';
import { traceRequests } from './http/edge/traces.js';

export { ApiMetrics };

export interface ApiOptions {
  readonly application: Application;
  readonly clock: Clock;
  /** Whether the API can serve requests, for an orchestrator's readiness probe. */
  readonly isReady: () => boolean;
  /** How much work runs at a time. Default: for ten connections to the database. */
  readonly turns?: Turns | undefined;
  /** Aborted when the API must stop. From then on every response closes its connection. */
  readonly stopping?: AbortSignal | undefined;
  readonly publicUrl?: string | undefined;
  /** The portal's address, to which the reference page links. */
  readonly portalUrl?: string | undefined;
  /** The operator's e-mail address or https URL, for refusals that only the operator can change. */
  readonly contact?: string | undefined;
  /** Without it nothing is logged. */
  readonly log?: Log | undefined;
  readonly logRequests?: boolean | undefined;
  readonly metrics?: ApiMetrics | undefined;
  readonly tracing?: Tracing | undefined;
  /** Trusted proxies: X-Forwarded-For is used only from these networks. Default: none. */
  readonly trustProxy?: readonly string[] | undefined;
  /** The origins whose pages may call the API. Default: all. */
  readonly corsOrigins?: CorsOrigins | undefined;
  /** Adds plugins, hooks and interceptors before the routes are registered. */
  readonly configure?: ((api: NestFastifyApplication) => void) | undefined;
}

/** The API, ready to listen. serve-api.ts and the tests use it. */
export async function createApi({
  trustProxy,
  corsOrigins = '*',
  configure,
  application,
  clock,
  isReady,
  turns = new Turns(10),
  stopping,
  publicUrl,
  portalUrl,
  contact,
  log,
  logRequests = false,
  metrics,
  tracing,
}: ApiOptions): Promise<NestFastifyApplication> {
  const routes = new RouteTable();
  const admission = new Admission(application, clock, (verdict) => metrics?.countDecision(undefined, verdict));
  const observers: readonly RequestObserver[] = [
    ...(log !== undefined && logRequests && log.logger.isLevelEnabled('info') ? [new AccessLog(log)] : []),
    ...(metrics === undefined ? [] : [metrics]),
  ];
  const cors = corsOrigins.length === 0 ? undefined : new Cors(corsOrigins, routes, admission);
  const errors = new SocketErrors(admission, observers, cors === undefined ? {} : readableBy());
  const faults = new SocketFaults(routes, errors);
  const adapter = new FastifyAdapter({ ...serverOptions(faults, trustProxy), genReqId: requestId });
  const fastify = adapter.getInstance<FastifyInstance>();
  if (trustProxy !== undefined) fastify.addHook('onRequest', dropInvalidForwarding);
  routeEveryMethod(fastify);
  if (tracing) traceRequests(fastify, tracing);
  const logger = log?.logger ?? fastify.log;
  addRequestHooks(fastify, { cors, faults, admission, observers, logger, stopping });
  fastify.addHook('onRoute', ({ url, method }) => {
    if (url.startsWith('/v1/')) routes.add(url, ['OPTIONS', ...[method].flat()]);
  });
  const api = await NestFactory.create<NestFastifyApplication>(
    ApiModule.of({
      application,
      context: new ApiContext(clock, publicUrl, logger, contact),
      routes,
      admission,
      turns,
    }),
    adapter,
    { logger: nestLogger(logger), bodyParser: false, abortOnError: false },
  );
  configure?.(api);
  await api.init();
  // Registered after Nest's routes, so that Nest's filter handles their errors.
  serveDocs(fastify, { operations: OPERATIONS, publicUrl, portalUrl });
  serveHealth(
    (path, get) => {
      servePublicly(fastify, path, get);
    },
    () => stopping?.aborted !== true && isReady(),
  );
  return api;
}
