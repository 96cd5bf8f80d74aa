import { performance } from 'node:perf_hooks';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Log } from './log.js';
import type { Page } from './pages.js';

interface ProcessState {
  /**
   * Connections to the database. `size` is the most there may be, `waiting` counts callers without one, and `givenUp`
   * those for whose work nobody waits any more.
   */
  readonly pool: Readonly<Record<'idle' | 'used' | 'size' | 'waiting' | 'givenUp', number>>;
  /** The servers that the process needs, and whether each of them answers. */
  readonly dependencies: ReadonlyMap<string, boolean>;
  /** Milliseconds by which the clock of this process is ahead of PostgreSQL's; undefined if unknown. */
  readonly clockSkew: number | undefined;
}

/** The metrics of every service. Each service adds its own. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly registers = [this.registry];

  constructor(read: () => ProcessState) {
    collectDefaultMetrics({ register: this.registry });
    this.describeEventLoop();
    this.describeProcess(read);
  }

  /** The metrics in Prometheus' text format. */
  async page(): Promise<Page> {
    return { status: 200, body: await this.registry.metrics(), type: this.registry.contentType };
  }

  /** Adds the count of lines that the log could not write. */
  watchLog({ dropped }: Pick<Log, 'dropped'>): void {
    const help = 'Lines of the log that could not be written, as on a full disk';
    this.counter('log_lines_dropped_total', help, [], (counter) => {
      counter.inc(dropped());
    });
  }

  /** @param collect sets the value when Prometheus asks. For counts that are kept elsewhere. */
  counter<Label extends string = never>(
    name: string,
    help: string,
    labelNames: Label[] = [],
    collect?: (counter: Counter<Label>) => void | Promise<void>,
  ) {
    return new Counter<Label>({
      name,
      help,
      labelNames,
      registers: this.registers,
      ...(collect && {
        collect() {
          this.reset();
          return collect(this);
        },
      }),
    });
  }

  /** @param collect sets the value when Prometheus asks. */
  gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: Label[] = [],
    collect?: (gauge: Gauge<Label>) => void,
  ) {
    return new Gauge<Label>({
      name,
      help,
      labelNames,
      registers: this.registers,
      ...(collect && {
        collect() {
          collect(this);
        },
      }),
    });
  }

  histogram<Label extends string = never>(name: string, help: string, buckets: number[], labelNames: Label[] = []) {
    return new Histogram<Label>({ name, help, buckets, labelNames, registers: this.registers });
  }

  /** The names of the pool's metrics are those of OpenTelemetry's semantic conventions. */
  private describeProcess(read: () => ProcessState): void {
    this.gauge('db_client_connection_count', 'Connections to PostgreSQL', ['state'], (gauge) => {
      const { idle, used } = read().pool;
      gauge.set({ state: 'idle' }, idle);
      gauge.set({ state: 'used' }, used);
    });
    this.gauge('db_client_connection_max', 'Most connections to PostgreSQL', [], (gauge) => {
      gauge.set(read().pool.size);
    });
    this.gauge('db_client_connection_pending_requests', 'Callers that wait for a connection', [], (gauge) => {
      gauge.set(read().pool.waiting);
    });
    const givenUp = 'Connections that PostgreSQL has left without an answer for more than three seconds';
    this.gauge('db_client_connection_given_up', givenUp, [], (gauge) => {
      gauge.set(read().pool.givenUp);
    });
    const up = '1 while a server that this process needs answers it, 0 while it does not';
    this.gauge('dependency_up', up, ['dependency'], (gauge) => {
      for (const [dependency, isUp] of read().dependencies) gauge.set({ dependency }, isUp ? 1 : 0);
    });
    const skew = "Seconds by which the clock of this process is ahead of PostgreSQL's";
    this.gauge('clock_skew_seconds', skew, [], (gauge) => {
      gauge.set((read().clockSkew ?? NaN) / 1_000);
    });
  }

  /** The event loop is Node's one thread for JavaScript. The name is OpenTelemetry's. */
  private describeEventLoop(): void {
    const help = 'Seconds that the event loop has worked or waited';
    this.counter('nodejs_eventloop_time_seconds_total', help, ['state'], (counter) => {
      const { active, idle } = performance.eventLoopUtilization();
      counter.inc({ state: 'active' }, active / 1_000);
      counter.inc({ state: 'idle' }, idle / 1_000);
    });
  }
}
