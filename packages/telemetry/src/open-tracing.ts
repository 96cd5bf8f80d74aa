import type { Tracing } from './tracing.js';

/** Where no endpoint is given, nothing of OpenTelemetry is even loaded. */
export async function openTracing(service: string, endpoint: string | undefined): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined;
  const { startOpenTelemetry } = await import('./open-telemetry.js');
  return startOpenTelemetry(service);
}
