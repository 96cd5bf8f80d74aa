import type { Readings } from '@adoption-store/infrastructure';
import { Metrics } from '@adoption-store/telemetry';
import type { FastifyInstance } from 'fastify';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The methods of the portal's routes. All others share a series, because a client can send any text. */
const METHODS = new Set(['GET', 'HEAD', 'POST']);
const NO_ROUTE = '*';

/** Outcomes of a sign-in form, by the status of its answer. */
const SIGN_INS: Readonly<Record<number, string>> = { 303: 'succeeded', 422: 'wrong_password', 429: 'throttled' };
/** Reasons to refuse a form, by the status of its answer. */
const REFUSALS: Readonly<Record<number, string>> = { 403: 'forged_or_old', 413: 'too_large', 429: 'throttled' };

/** The portal's metrics for Prometheus. No label has anything that a visitor has sent. */
export class PortalMetrics extends Metrics {
  private readonly requests = this.histogram(
    'adoption_store_portal_request_duration_seconds',
    'From the arrival of a request at the portal to the end of its answer',
    SECONDS,
    ['method', 'route', 'status'],
  );
  private readonly signIns = this.counter('adoption_store_portal_sign_ins_total', 'Sign-in forms by outcome', [
    'outcome',
  ]);
  private readonly refusals = this.counter(
    'adoption_store_portal_refused_forms_total',
    'Forms refused before they were handled',
    ['reason'],
  );

  constructor(read: () => Readings) {
    super(read);
    for (const outcome of Object.values(SIGN_INS)) this.signIns.inc({ outcome }, 0);
    for (const reason of Object.values(REFUSALS)) this.refusals.inc({ reason }, 0);
  }

  observe(fastify: FastifyInstance): void {
    fastify.addHook('onResponse', (request, { statusCode: status, elapsedTime }, done) => {
      const { url: route = NO_ROUTE } = request.routeOptions;
      const method = METHODS.has(request.method) ? request.method : '_OTHER';
      this.requests.observe({ method, route, status }, elapsedTime / 1_000);
      if (method === 'POST') this.countForm(route, status);
      done();
    });
  }

  /** Counts a response to what could not be parsed. Its duration is unknown. */
  countUnparsed(status: number): void {
    this.requests.observe({ method: '_OTHER', route: NO_ROUTE, status }, 0);
  }

  private countForm(route: string, status: number): void {
    const reason = REFUSALS[status];
    if (reason !== undefined) this.refusals.inc({ reason });
    const outcome = route === '/sign-in' ? SIGN_INS[status] : undefined;
    if (outcome !== undefined) this.signIns.inc({ outcome });
  }
}
