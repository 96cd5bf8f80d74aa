import { runService, type serviceSettings, type Values } from '@adoption-store/config';
import type { InfrastructureConfig } from '@adoption-store/infrastructure';
import type { Log, Tracing } from '@adoption-store/telemetry';
import { openStore, type Store, type StoreSettings } from './open-store.js';

type AppSettings = Values<typeof serviceSettings> &
  StoreSettings & { readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined };

export interface OpenedApp<Settings> {
  readonly settings: Settings;
  /** Aborted as soon as the app must stop. Its reason is the signal's name. */
  readonly stopping: AbortSignal;
  readonly log: Log;
  /** Undefined without a collector. */
  readonly tracing: Tracing | undefined;
  readonly store: Store;
}

export interface App<Settings> {
  /** As logs and traces call it. */
  readonly name: string;
  readonly read: (environment: NodeJS.ProcessEnv) => Settings;
  /** How this process delivers messages, if it does. */
  readonly deliveryOf?: (settings: Settings, log: Log) => InfrastructureConfig['delivery'];
  /** Begins the app's work, and returns what ends it. */
  readonly serve: (opened: OpenedApp<Settings>) => Promise<() => Promise<void>>;
}

/**
 * Runs an app on the store, from its settings to its exit code. After the app's own end the store is closed, then the
 * traces, and the log last, because closing may be logged.
 */
export async function runApp<Settings extends AppSettings>(app: App<Settings>): Promise<never> {
  return runService(app.read, async (settings, stopping) => {
    const { openLog, openTracing } = await import('@adoption-store/telemetry');
    const log = await openLog({ service: app.name, level: settings.LOG_LEVEL });
    const tracing = await openTracing(app.name, settings.OTEL_EXPORTER_OTLP_ENDPOINT);
    const store = await openStore(settings, log, app.deliveryOf?.(settings, log));
    const close = async () => {
      await store.close();
      await tracing?.close();
    };
    try {
      const end = await app.serve({ settings, stopping, log, tracing, store });
      return async () => {
        await end();
        await close();
        await log.close();
      };
    } catch (error) {
      await close();
      throw error;
    }
  });
}
