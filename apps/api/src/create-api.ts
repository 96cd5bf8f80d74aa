import 'reflect-metadata';
import type { IncomingMessage } from 'node:http';
import type { Application, Clock } from '@adoption-store/domain';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import Fastify, { type RouteOptions } from 'fastify';
import type { Log, Tracing } from '@adoption-store/telemetry';
import { dropInvalidForwarding, nestLogger, serveHealth } from '@adoption-store/web';
import { ApiModule } from './api.module.js';
import { serveDocs } from './docs/docs-routes.js';
import { ApiAdapter } from './http/api-adapter.js';
import { ApiContext } from './http/api-context.js';
import { ApiRequest } from './http/api-request.js';
import { ApiResponse, headerLine } from './http/api-response.js';
import { servePublicly } from './http/public-route.js';
import { checkFraming, requestId, routeEveryMethod } from './http/framing.js';
import { routableUrl } from './http/request-target.js';
import { ReadingTurns } from './http/reading-turns.js';
import { RequestCounterStorage } from './http/request-counter.storage.js';
import { RouteTable } from './http/route-table.js';
import { SocketRefusals } from './http/socket-refusals.js';
import { AccessLog } from './observability/access-log.js';
import { ApiMetrics } from './observability/api-metrics.js';
import { type RequestObserver, shownRoute, Watch } from './observability/request-observers.js';
import { traceRequests } from './observability/request-spans.js';

export { ApiMetrics };

export interface ApiOptions {
  readonly application: Application;
  readonly clock: Clock;
  /** Whether requests can be served, which an orchestrator asks. */
  readonly isReady: () => Promise<boolean>;
  /** Aborted once the API is to end: from then on it tells everybody to look for another one. */
  readonly ending?: AbortSignal | undefined;
  readonly publicUrl?: string | undefined;
  /** Nothing is logged without it. */
  readonly log?: Log | undefined;
  /** Whether each request is logged, too. */
  readonly logRequests?: boolean | undefined;
  readonly metrics?: ApiMetrics | undefined;
  readonly tracing?: Tracing | undefined;
  /** Networks whose X-Forwarded-For is believed; none unless given. */
  readonly trustProxy?: readonly string[] | undefined;
  /** Told of each route there is. */
  readonly onRoute?: ((route: RouteOptions) => void) | undefined;
}

// An unfinished request is given up after so long; Node looks for them this often.
const REQUEST_TIMEOUT_MS = 8_000;
const TIMEOUT_CHECK_MS = 500;

function noSchemas(): never {
  throw new Error('Fastify compiles no schemas here');
}

/** The API, ready to listen: what serve-api.ts serves and the tests call. */
export async function createApi({
  trustProxy,
  onRoute,
  application,
  clock,
  isReady,
  ending,
  publicUrl,
  log,
  logRequests = false,
  metrics,
  tracing,
}: ApiOptions): Promise<NestFastifyApplication> {
  const routes = new RouteTable();
  const storage = new RequestCounterStorage(
    application.meterRequest,
    clock,
    metrics &&
      ((source, verdict) => {
        metrics.countDecision(source, verdict);
      }),
  );
  const observers: readonly RequestObserver[] = [
    ...(log !== undefined && logRequests && log.logger.isLevelEnabled('info') ? [new AccessLog(log)] : []),
    ...(metrics === undefined ? [] : [metrics]),
  ];
  const refusals = new SocketRefusals(routes, storage, observers);
  class Response<Request extends IncomingMessage = IncomingMessage> extends ApiResponse<Request> {
    protected override isLast(): boolean {
      return ending?.aborted === true;
    }
  }
  const fastify = Fastify({
    rewriteUrl: (request: { url?: string | undefined }) => routableUrl(request.url ?? ''),
    // A parameter is judged by its operation, however long it is; the URL as a whole is bounded.
    routerOptions: { maxParamLength: 16_384 },
    genReqId: requestId,
    trustProxy: trustProxy === undefined ? false : [...trustProxy],
    clientErrorHandler: (error, socket) => {
      refusals.onClientError(error, socket);
    },
    return503OnClosing: false,
    // No route has a schema of Fastify's: what reads and writes JSON is here. Its compilers are a hundred files to load.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      IncomingMessage: ApiRequest,
      ServerResponse: Response,
      requireHostHeader: false,
      // Or it stays at a minute, which Node then takes for the whole request: the longer of the two.
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
  });
  if (trustProxy !== undefined) fastify.addHook('onRequest', dropInvalidForwarding);
  if (onRoute !== undefined) fastify.addHook('onRoute', onRoute);
  routeEveryMethod(fastify);
  refusals.listenTo(fastify.server);
  new ReadingTurns().listenTo(fastify.server);
  if (tracing) traceRequests(fastify, tracing);
  fastify.addHook('onRoute', (route) => {
    const { stability } = route.config ?? {};
    const stabilityLine = stability === undefined ? '' : headerLine('x-stability', stability);
    const observes = observers.map((observer) => observer.forRoute(shownRoute(route.url)));
    route.onRequest = (request, reply, done) => {
      const response = reply.raw as ApiResponse;
      if (observes.length > 0) response.watch = new Watch(observes, request, reply);
      // On the answer from its beginning, so that refusals have it too.
      response.tell(`\r\nx-request-id: ${request.id}${stabilityLine}`);
      done(checkFraming(request));
    };
  });
  // Before the table of routes listens: neither is part of the API.
  serveDocs(fastify);
  serveHealth(
    (path, get) => {
      servePublicly(fastify, path, get);
    },
    async () => ending?.aborted !== true && (await isReady()),
  );
  fastify.addHook('onRoute', ({ url, method }) => {
    routes.add(url, [method].flat());
  });
  const logger = log?.logger ?? fastify.log;
  const api = await NestFactory.create<NestFastifyApplication>(
    ApiModule.of({ application, context: new ApiContext(clock, publicUrl, logger), routes, storage }),
    new ApiAdapter(fastify),
    { logger: nestLogger(logger), bodyParser: false, abortOnError: false },
  );
  return api.init();
}
