import { API, type Environment, KEYS, run, Running, WORKER } from '@adoption-store/test-support';
import type { Target } from '@adoption-store/api/testing/raw-http';

/** A process of the API, and its addresses. */
export interface Api {
  readonly service: Running;
  readonly origin: string;
  readonly metrics: string;
  readonly target: Target;
}

/** Starts an API on free ports, which logs nothing and refuses no load, unless the settings say otherwise. */
export async function startApi(settings: Environment, program = API): Promise<Api> {
  const service = new Running(program, [], {
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'fatal',
    ADDRESS_LIMIT: '1000000',
    ORDER_LIMIT: '100000',
    MESSAGE_LIMIT: '100000',
    ...settings,
  });
  const [, metrics = ''] = await service.prints(/Metrics {2}(\S+)/);
  const [, origin = ''] = await service.prints(/Address {2}(\S+)\/v1/);
  return { service, origin, metrics, target: { host: '127.0.0.1', port: Number(new URL(origin).port) } };
}

/** Starts a worker on a free port. */
export async function startWorker(settings: Environment, program = WORKER) {
  const service = new Running(program, [], { WORKER_PORT: '0', WORKER_HOST: '127.0.0.1', ...settings });
  const [, origin = ''] = await service.prints(/^The worker is ready: .* health at (\S+)\/readyz/m);
  return { service, metrics: `${origin}/metrics` };
}

const ENDLESS = limitsOf(2_000_000_000, 2_000_000_000);

/** The options of a plan with limits of its own. */
export function limitsOf(perMinute: number, perDay: number): readonly string[] {
  return ['--plan', 'enterprise', '--per-minute', String(perMinute), '--per-day', String(perDay)];
}

/** A key of a new account, which no load exhausts unless it has another plan. */
export async function issueKey(settings: Environment, email: string, plan = ENDLESS): Promise<string> {
  return (await run(KEYS, ['create', '--email', email, ...plan], settings)).stdout.trim();
}
