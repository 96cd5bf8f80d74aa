import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Application, Clock } from '@adoption-store/domain';
import { Turns } from '@adoption-store/infrastructure/turns';
import type { Log } from '@adoption-store/telemetry';
import { nestLogger, serveHealth } from '@adoption-store/web';
import {
  dropInvalidForwarding,
  HttpFault,
  REQUEST_TIMEOUT_MS,
  RouteTable,
  serverOptions,
  SocketFaults,
} from '@adoption-store/web/edge';
import fastifyHelmet from '@fastify/helmet';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyBaseLogger, type FastifyInstance, type RouteOptions, LogController } from 'fastify';
import { logRequests } from './http/logs.js';
import { BackgroundTasks } from './http/background-tasks.js';
import { refuseBrokenRequests } from './http/broken-requests.js';
import { readCookies, signerFor } from './http/cookies.js';
import { addFormTokens } from './http/csrf.js';
import { Devices } from './http/devices.js';
import { formIn } from './http/forms.js';
import { readTemplates } from './http/pages.js';
import type { PortalMetrics } from './http/portal-metrics.js';
import {
  type PublicFile,
  readPackedClient,
  readPublicFiles,
  servePackedClient,
  servePublicFiles,
} from './http/public-files.js';
import { Sessions } from './http/sessions.js';
import { SocketPages } from './http/socket-pages.js';
import { boundUnfinishedBodies } from './http/unfinished-bodies.js';
import { PortalModule } from './portal.module.js';
import { viewHelpers } from './view-helpers.js';

export interface PortalOptions {
  readonly application: Application;
  readonly clock: Clock;
  /** The first secret signs, all of them verify. Each has at least 32 characters. */
  readonly secrets: readonly string[];
  /** The API's address, without `/v1`. */
  readonly apiUrl: string;
  /** The address at which people reach the portal, if it is known. */
  readonly portalUrl?: string | undefined;
  /** An e-mail address or an https URL at which people reach the operator. */
  readonly contact?: string | undefined;
  /** Whether the portal can serve pages; the readiness probe of an orchestrator uses it. */
  readonly isReady: () => boolean;
  /** How much work runs at a time. Default: for ten connections to the database. */
  readonly turns?: Turns | undefined;
  /** Aborted when the portal must stop. From then on every response closes its connection. */
  readonly stopping?: AbortSignal | undefined;
  /** Without it nothing is logged. */
  readonly log?: Pick<Log, 'logger'> | undefined;
  readonly logRequests?: boolean | undefined;
  /** Trusted proxies: X-Forwarded-For is used only from these networks. Default: none. */
  readonly trustProxy?: readonly string[] | undefined;
  readonly metrics?: PortalMetrics | undefined;
  readonly onRoute?: ((route: RouteOptions) => void) | undefined;
}

const MAX_FORM_BYTES = 16 * 1_024;

// Pages load nothing from other hosts, contain no inline scripts or styles, and send forms only to the portal.
const CONTENT_SECURITY_POLICY = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    fontSrc: ["'self'"],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
  },
};

/** The portal, ready to listen. main.ts and the tests use it. */
export async function createPortal(options: PortalOptions): Promise<NestFastifyApplication> {
  const { application, clock, secrets, portalUrl, turns = new Turns(10) } = options;
  const routes = new RouteTable();
  const adapter = createAdapter(options, routes);
  const fastify = adapter.getInstance<FastifyInstance>();
  const isSecure = portalUrl?.startsWith('https:') === true;
  const files = readPublicFiles(fileURLToPath(new URL('../public', import.meta.url)));
  const client = readPackedClient(fileURLToPath(new URL('../dist', import.meta.url)));
  observeResponses(fastify, options);
  await fastify.register(fastifyHelmet, {
    contentSecurityPolicy: CONTENT_SECURITY_POLICY,
    strictTransportSecurity: isSecure,
  });
  fastify.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  boundUnfinishedBodies(fastify, REQUEST_TIMEOUT_MS);
  await serveEverybody(fastify, files, client, options);
  fastify.removeAllContentTypeParsers();
  readForms(fastify);
  await readCookies(fastify, isSecure);
  refuseBrokenRequests(fastify, routes);
  const devices = new Devices(application.getAccount, signerFor('device', secrets), clock);
  const sessions = new Sessions(application, devices, signerFor('session', secrets));
  sessions.keep(fastify);
  addFormTokens(fastify, secrets);
  fastify.decorateRequest('guess', undefined);
  readTemplates(fastify, clock, frameOfEveryPage(files, client, options));
  const tasks = BackgroundTasks.of(fastify);
  const portal = await NestFactory.create<NestFastifyApplication>(
    PortalModule.of({ application, clock, sessions, devices, tasks, turns }),
    adapter,
    { logger: nestLogger(fastify.log), bodyParser: false, abortOnError: false },
  );
  return portal.init();
}

function readForms(fastify: FastifyInstance): void {
  const options = { parseAs: 'buffer', bodyLimit: MAX_FORM_BYTES } as const;
  fastify.addContentTypeParser('application/x-www-form-urlencoded', options, (_request, bytes: Buffer, done) => {
    const form = formIn(bytes);
    if (form === undefined) done(new HttpFault('bad_request', 'the form is not UTF-8'));
    else done(null, form);
  });
}

/** The server, with the hooks that judge a request before all others. */
function createAdapter(
  { log, logRequests, metrics, trustProxy, onRoute }: PortalOptions,
  routes: RouteTable,
): FastifyAdapter {
  const socketPages = new SocketPages(
    () => fastify,
    (status) => {
      if (logRequests === true) log?.logger.info({ request_id: randomUUID(), route: '*', status }, 'request');
      metrics?.countUnparsed(status);
    },
  );
  const refusals = new SocketFaults(routes, socketPages);
  const adapter: FastifyAdapter = new FastifyAdapter({
    ...serverOptions(refusals, trustProxy),
    ...(log && { loggerInstance: log.logger, childLoggerFactory: (logger: FastifyBaseLogger) => logger }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
  });
  const fastify = adapter.getInstance<FastifyInstance>();
  fastify.addHook('onRequest', (request, _reply, done) => {
    refusals.onRequest(request);
    done();
  });
  if (trustProxy !== undefined) fastify.addHook('onRequest', dropInvalidForwarding);
  fastify.addHook('onRoute', ({ url, method }) => {
    routes.add(url, [method].flat());
  });
  if (onRoute !== undefined) fastify.addHook('onRoute', onRoute);
  return adapter;
}

function observeResponses(fastify: FastifyInstance, { log, logRequests: isLogged, metrics, stopping }: PortalOptions) {
  if (log !== undefined && isLogged === true) logRequests(fastify, log);
  metrics?.observe(fastify);
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (stopping?.aborted === true) reply.header('connection', 'close');
    done();
  });
}

/** The routes that need no session. Hooks that are added later also apply to them, so they are marked. */
async function serveEverybody(
  fastify: FastifyInstance,
  files: readonly PublicFile[],
  client: PublicFile | undefined,
  { stopping, isReady }: PortalOptions,
): Promise<void> {
  await fastify.register((scope, _options, done) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, isForEverybody: true };
    });
    servePublicFiles(scope, files);
    if (client !== undefined) servePackedClient(scope, client);
    serveHealth(
      (path, get) => scope.get(path, get),
      () => stopping?.aborted !== true && isReady(),
    );
    done();
  });
}

function frameOfEveryPage(
  files: readonly PublicFile[],
  client: PublicFile | undefined,
  { apiUrl, portalUrl, contact }: PortalOptions,
) {
  return {
    api: apiUrl,
    portalUrl,
    packedClient: client?.name,
    contact: contact === undefined ? undefined : linkTo(contact),
    helpers: viewHelpers,
    files: Object.fromEntries(files.map(({ name, address }) => [name, address])),
  };
}

function linkTo(contact: string): { readonly href: string; readonly text: string } {
  return { href: contact.startsWith('https:') ? contact : `mailto:${contact}`, text: contact };
}
