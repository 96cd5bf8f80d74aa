import type { Tracing } from './tracing.js';

/** Loads OpenTelemetry only if an endpoint is set. */
export async function openTracing(service: string, endpoint: string | undefined): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined;
  const { startOpenTelemetry } = await import('./open-telemetry.js');
  return startOpenTelemetry(service);
}
