import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  API,
  createDatabase,
  DatabaseGate,
  folderOf,
  freePort,
  type RedisServer,
  redisServerFor,
  Running,
  SmtpSink,
  temporaryFolder,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';
import { parse, stringify } from 'yaml';
import { tell } from '../support/faults.js';

const CONFIGURATION = join(__dirname, '../../docker/prometheus');
const SUITE = 'alerts that reach a receiver';
const prometheus = folderOf(SUITE, 'prometheus', 'prometheus', 'promtool');
const alertmanager = folderOf(SUITE, 'prometheus-alertmanager', 'prometheus-alertmanager');
const openRedis = redisServerFor(SUITE);

/** Prometheus scrapes every 10 s in production; ALERT_INTERVAL=10s measures that. The default keeps the test short. */
const INTERVAL = process.env['ALERT_INTERVAL'] ?? '1s';

interface Notification {
  readonly status: string;
  readonly alerts: readonly {
    readonly labels: { readonly alertname: string };
    readonly annotations: { readonly runbook_url?: string };
  }[];
}

interface Answer {
  readonly data?: { readonly result: readonly { readonly value: readonly [time: number, value: string] }[] };
}

const isInstalled = prometheus !== undefined && alertmanager !== undefined && openRedis !== undefined;
(isInstalled ? describe : describe.skip)(SUITE, () => {
  let database: TestDatabase;
  let gate: DatabaseGate;
  let redis: RedisServer;
  let sink: SmtpSink;
  let receiver: Server;
  let folder: { readonly path: string; remove(): Promise<void> };
  let processes: Record<'api' | 'lonelyApi' | 'worker' | 'otherWorker', Running>;
  const programs: ChildProcess[] = [];
  /** The arrival time of each alert (`performance.now()`), and its runbook section. */
  const arrived = new Map<string, { readonly at: number; readonly runbook: string | undefined }>();

  function launch(program: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): void {
    const child = spawn(program, args, { stdio: 'ignore', env: { PATH: process.env['PATH'], ...environment } });
    programs.push(child);
  }

  beforeAll(async () => {
    database = await createDatabase();
    gate = await DatabaseGate.open(database.url);
    if (openRedis === undefined) throw new Error('skipped above');
    redis = await openRedis();
    sink = await SmtpSink.open();
    folder = await temporaryFolder();
    receiver = createServer((request, response) => {
      void text(request).then((body) => {
        for (const { labels, annotations } of (JSON.parse(body) as Notification).alerts) {
          if (arrived.has(labels.alertname)) continue;
          arrived.set(labels.alertname, { at: performance.now(), runbook: annotations.runbook_url });
        }
        response.end();
      });
    });
    await once(receiver.listen(0, '127.0.0.1'), 'listening');

    const api = { LOG_LEVEL: 'info', ACCESS_LOG: 'off', PORT: '0', HOST: '127.0.0.1' };
    const worker = { WORKER_PORT: '0', WORKER_HOST: '127.0.0.1', DATABASE_URL: database.url };
    const mail = { SMTP_URL: sink.url, MAIL_FROM: 'store@example.com', STORE_EMAIL: 'staff@example.com' };
    processes = {
      api: new Running(API, [], { ...api, DATABASE_URL: gate.url }),
      lonelyApi: new Running(API, [], { ...api, DATABASE_URL: database.url, REDIS_URL: redis.url }),
      worker: new Running(WORKER, [], worker),
      otherWorker: new Running(WORKER, [], { ...worker, ...mail }),
    };
    const targetOf = async (each: Running, printed: RegExp) => new URL((await each.prints(printed))[1] ?? '').host;
    const targets = {
      api: await Promise.all([processes.api, processes.lonelyApi].map((each) => targetOf(each, /Metrics {2}(\S+)/))),
      worker: await Promise.all(
        [processes.worker, processes.otherWorker].map((each) => targetOf(each, /health at (\S+)\/readyz/)),
      ),
    };
    const [port, alertPort] = await Promise.all([freePort(), freePort()]);
    launch(
      join(CONFIGURATION, 'alertmanager.sh'),
      [
        ...[`--storage.path=${folder.path}/alertmanager`, '--cluster.listen-address='],
        `--web.listen-address=127.0.0.1:${alertPort}`,
      ],
      {
        ALERTMANAGER: join(alertmanager ?? '', 'prometheus-alertmanager'),
        CONFIG: join(folder.path, 'alertmanager.yml'),
        ALERT_WEBHOOK_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      },
    );
    // The operator's own rules, with these processes as targets.
    const own = parse(readFileSync(join(CONFIGURATION, 'prometheus.yml'), 'utf8')) as object;
    const configuration = {
      ...own,
      global: { scrape_interval: INTERVAL, evaluation_interval: INTERVAL },
      rule_files: [join(CONFIGURATION, 'alerts.yml')],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertPort}`] }] }] },
      scrape_configs: Object.entries(targets).map(([job_name, addresses]) => ({
        job_name,
        static_configs: [{ targets: addresses }],
      })),
    };
    writeFileSync(join(folder.path, 'prometheus.yml'), stringify(configuration));
    launch(join(prometheus ?? '', 'prometheus'), [
      `--config.file=${folder.path}/prometheus.yml`,
      `--storage.tsdb.path=${folder.path}/prometheus`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    const isUp = async () => {
      const query = `http://127.0.0.1:${port}/api/v1/query?query=sum(up)`;
      const ask = async () => (await fetch(query)).json() as Promise<Answer>;
      // Before it is ready, it answers in plain text.
      const answer = await ask().catch((): Answer => ({}));
      return answer.data?.result[0]?.value[1] === '4';
    };
    await until(isUp);
  });

  afterAll(async () => {
    for (const program of programs) program.kill('SIGKILL');
    await Promise.all(Object.values(processes).map((each) => each.stop('SIGKILL')));
    receiver.close();
    gate.shut();
    await Promise.all([redis.close(), sink.close(), folder.remove(), database.drop()]);
  });

  it('reports a stopped PostgreSQL, Redis or worker and a refusing mail server within 90 s, with the runbook’s section', async () => {
    expect([...arrived.keys()]).toEqual([]);
    const begun = performance.now();
    gate.shut();
    await redis.kill();
    sink.trouble = { at: 'greeting', by: 554 };
    await processes.worker.stop('SIGKILL');
    const alerts = ['PostgresqlLost', 'RedisLost', 'MailServerLost', 'WorkerDown'];
    await until(() => alerts.every((alert) => arrived.has(alert)), { within: 110_000 });
    for (const alert of alerts) {
      const { at = Infinity, runbook } = arrived.get(alert) ?? {};
      tell(alert, `arrived after ${Math.round((at - begun) / 1_000)} s, asked every ${INTERVAL}`);
      expect(at - begun).toBeLessThan(90_000);
      expect(runbook).toBe(`docker/runbook.md#${alert.toLowerCase()}`);
    }
  });
});
