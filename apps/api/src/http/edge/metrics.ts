import { OUTCOMES, type Outcome, PLAN_NAMES, type PlanName, type Verdict } from '@adoption-store/domain';
import type { Readings } from '@adoption-store/infrastructure';
import { Metrics } from '@adoption-store/telemetry';
import type { DefinedOperation } from '../operations/operation.js';
import type { ErrorCode } from '../answers/error-codes.js';
import { NO_ROUTE, type Observe, type RequestObserver, type SocketAnswer } from './observers.js';

const DURATIONS = 'http_server_request_duration_seconds';
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
// The methods in OpenTelemetry's conventions. Others are counted together, because each would create a series of its own.
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);
const OTHER = '_OTHER';
/** Statuses of requests that did not use the operation, for lack of a valid key, its scope or quota. */
const NOT_ADMITTED = new Set([401, 403, 429]);
/** The one error with such a status that counts as a use. */
const ADMITTED = 'too_many_at_once' satisfies ErrorCode;
const NO_OPERATION = 'none';
/** The label for requests without a valid key, which have no plan. */
const NO_PLAN = 'none';

export class ApiMetrics extends Metrics implements RequestObserver {
  private readonly requests = this.histogram(
    DURATIONS,
    'Time from the arrival of a request until its response is sent',
    SECONDS,
    ['method', 'route', 'status'],
  );
  private readonly errors = this.counter('adoption_store_errors_total', 'Error responses, by the code in their body', [
    'operation',
    'code',
  ]);
  private readonly operations: ReadonlyMap<string, DefinedOperation>;
  private readonly decisions = new Map<PlanName | typeof NO_PLAN, Record<Outcome, number>>();

  constructor(read: () => Readings, operations: readonly DefinedOperation[]) {
    super(read);
    this.operations = new Map(operations.map((operation) => [operation.route, operation]));
    for (const plan of [...PLAN_NAMES, NO_PLAN] as const) {
      this.decisions.set(plan, { admitted: 0, rate_limited: 0, daily_quota_exceeded: 0, key_banned: 0 });
    }
    this.counter(
      'adoption_store_limit_decisions_total',
      'Decisions of the rate limiter',
      ['outcome', 'plan'],
      (counter) => {
        for (const [plan, counts] of this.decisions) {
          for (const outcome of OUTCOMES) counter.inc({ outcome, plan }, counts[outcome]);
        }
      },
    );
    this.describeOperations();
    const fallbacks = 'Requests that this process decided by itself because Redis did not answer';
    this.counter('adoption_store_limit_fallbacks_total', fallbacks, [], (counter) => {
      counter.inc(read().limitFallbacks);
    });
    const dropped = 'Refused requests that the portal can’t show, because too many waited for the database';
    this.counter('adoption_store_refusals_dropped_total', dropped, [], (counter) => {
      counter.inc(read().droppedFailedRequests);
    });
  }

  forRoute(route: string): Observe {
    return ({ method, verdict, caller, errorCode }, status, milliseconds) => {
      if (verdict !== undefined) this.countDecision(caller.plan.name, verdict);
      if (errorCode !== undefined) this.countError(errorCode, this.operationOf(method, route));
      this.requests.observe({ method: shownMethod(method), route, status }, milliseconds / 1_000);
    };
  }

  /** The duration is unknown, because no request was parsed. */
  onSocketAnswer({ method = OTHER, status, code }: SocketAnswer): void {
    this.countError(code);
    this.requests.observe({ method: shownMethod(method), route: NO_ROUTE, status }, 0);
  }

  /** @param plan undefined for an address without a valid key. */
  countDecision(plan: PlanName | undefined, { outcome }: Verdict): void {
    const counts = this.decisions.get(plan ?? NO_PLAN);
    if (counts !== undefined) counts[outcome] += 1;
  }

  private countError(code: ErrorCode, operation?: DefinedOperation): void {
    this.errors.inc({ operation: operation?.id ?? NO_OPERATION, code });
  }

  /** The operation of a route, if it has one. The handler of GET also answers HEAD. */
  private operationOf(method: string, route: string): DefinedOperation | undefined {
    return this.operations.get(`${method === 'HEAD' ? 'GET' : method} ${route}`);
  }

  /** Computed from the durations when Prometheus reads the page, so that requests cost nothing more. */
  private describeOperations(): void {
    this.counter(
      'adoption_store_operation_requests_total',
      'Requests that used an operation: with a valid key, its scope, and within the limits',
      ['operation', 'deprecated'],
      async (counter) => {
        const add = (operation: string, isDeprecated: boolean, count: number) => {
          counter.inc({ operation, deprecated: String(isDeprecated) }, count);
        };
        for (const { metricName, labels, value } of (await this.requests.get()).values) {
          const { method, route, status } = labels;
          if (metricName !== `${DURATIONS}_count` || NOT_ADMITTED.has(Number(status))) continue;
          const operation = this.operationOf(String(method), String(route));
          add(operation?.id ?? NO_OPERATION, operation?.notice !== undefined, value);
        }
        const errors = (await this.errors.get()).values;
        for (const { id, notice } of this.operations.values()) {
          const admitted = errors.find(({ labels: { operation, code } }) => operation === id && code === ADMITTED);
          add(id, notice !== undefined, admitted?.value ?? 0);
        }
      },
    );
    const sunsets = 'When a deprecated operation ends, in Unix seconds';
    this.gauge('adoption_store_operation_sunset_timestamp_seconds', sunsets, ['operation'], (gauge) => {
      for (const { id, notice } of this.operations.values()) {
        if (notice !== undefined) gauge.set({ operation: id }, notice.deprecation.sunset / 1_000);
      }
    });
  }
}

function shownMethod(method: string): string {
  return METHODS.has(method) ? method : OTHER;
}
