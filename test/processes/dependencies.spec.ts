import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createDatabase,
  DatabaseGate,
  type Environment,
  folderOf,
  freePort,
  redisServerFor,
  type Running,
  SmtpSink,
  temporaryFolder,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { runPortal } from '@adoption-store/portal/testing/portal-process';
import { parse, stringify } from 'yaml';
import { startApi, startWorker } from '../support/services.js';

const CONFIGURATION = join(__dirname, '../../docker/prometheus');
/** In production Prometheus scrapes every 10 s. Here scrapes and alerts take a tenth of the time. */
const INTERVAL = '1s';
const FASTER = 10;
const SUITE = 'the loss of a dependency';
const openRedis = redisServerFor(SUITE);
const prometheus = folderOf(SUITE, 'prometheus', 'prometheus', 'promtool');
const alertmanager = folderOf(SUITE, 'prometheus-alertmanager', 'prometheus-alertmanager');

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly dependency?: string;
  readonly reason?: string;
}
const [INFO, WARN, ERROR] = [30, 40, 50];

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  [database, folder] = await Promise.all([createDatabase(), temporaryFolder()]);
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await Promise.all([folder.remove(), database.drop()]);
});

/** A process and the address of its metrics. */
interface Service {
  readonly process: Running;
  readonly metrics: string;
}

type Start = (settings: Environment) => Promise<{ readonly service: Running; readonly metrics: string }>;

async function start(begin: Start, settings: Environment = {}): Promise<Service> {
  const started = { DATABASE_URL: database.url, LOG_LEVEL: 'info', ACCESS_LOG: 'off', ...settings };
  const { service: process, metrics } = await begin(started);
  closing.push(() => process.stop('SIGKILL'));
  return { process, metrics };
}

/** The losses and returns of a dependency in a process' log, in order. */
function changesIn({ process: { stdout } }: Service, of: string): readonly Line[] {
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Line).filter(({ dependency }) => dependency === of);
}

async function gaugeOf({ metrics }: Service, dependency: string): Promise<string | undefined> {
  const page = await (await fetch(metrics)).text();
  return new RegExp(`^dependency_up{dependency="${dependency}"} (\\d)$`, 'm').exec(page)?.[1];
}

/** Waits until each process has logged a loss, or a return, as its last change. */
async function logged(services: readonly Service[], dependency: string, what: 'loss' | 'return'): Promise<void> {
  const isLast = (each: Service) => {
    const [last] = changesIn(each, dependency).slice(-1);
    return last !== undefined && (last.level === INFO) === (what === 'return');
  };
  await until(() => services.every(isLast), { what: `each logs the ${what} of ${dependency}` });
}

async function listening(server: Server): Promise<number> {
  closing.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

describe('a process that loses what it needs', () => {
  let gate: DatabaseGate;
  let sink: SmtpSink;
  let services: readonly Service[];
  let api: Service;
  let worker: Service;
  let mailer: Service;

  beforeAll(async () => {
    gate = await DatabaseGate.open(database.url);
    sink = await SmtpSink.open();
    closing.push(() => sink.close());
    const behindGate = { DATABASE_URL: gate.url };
    const PORTAL_URL = 'https://portal.example.com';
    const mail = { SMTP_URL: sink.url, MAIL_FROM: 'store@example.com', STORE_EMAIL: 'staff@example.com', PORTAL_URL };
    const portal = await runPortal(gate.url, { LOG_LEVEL: 'info' });
    closing.push(() => portal.process.stop('SIGKILL'));
    [api, worker] = await Promise.all([start(startApi, behindGate), start(startWorker, behindGate)]);
    mailer = await start(startWorker, mail);
    services = [api, worker, portal];
  });

  it('logs the loss of PostgreSQL without any request, as an error only once it lasts, and the return', async () => {
    const gauges = () => Promise.all([api, worker].map((each) => gaugeOf(each, 'postgresql')));
    // A busy PostgreSQL may have been late before, and may be late again afterwards.
    await until(async () => (await gauges()).join() === '1,1');
    const before = services.map((each) => changesIn(each, 'postgresql').length);
    const since = () => services.map((each, index) => changesIn(each, 'postgresql').slice(before[index]));
    gate.freeze();
    await logged(services, 'postgresql', 'loss');
    expect(await gauges()).toEqual(['0', '0']);
    await until(() => since().every((changes) => changes.length > 1));
    gate.thaw();
    await logged(services, 'postgresql', 'return');
    const reason: unknown = expect.stringMatching(/no answer within 1500 ms|timeout/i);
    for (const changes of since()) {
      expect(changes).toEqual([
        expect.objectContaining({ level: WARN, msg: 'PostgreSQL is lost', reason }),
        expect.objectContaining({ level: ERROR, msg: 'PostgreSQL is still lost', reason }),
        expect.objectContaining({ level: INFO, msg: 'PostgreSQL is back' }),
      ]);
    }
  });

  it('logs why each loop of a worker fails, not what clients are told', async () => {
    const reasons = () =>
      [...worker.process.stdout.matchAll(/"loop":"[^"]*","reason":"([^"]*)"/g)].map(([, reason]) => reason);
    gate.shut();
    await until(() => reasons().some((reason) => /ECONN|terminated/.test(reason ?? '')));
    await gate.reopen();
    await logged(services, 'postgresql', 'return');
    expect(reasons().filter((reason) => reason?.includes('try again later'))).toEqual([]);
  });

  const isInstalled = prometheus !== undefined && alertmanager !== undefined && openRedis !== undefined;
  (isInstalled ? it : it.skip)(
    'raises an alert that reaches a receiver, with the runbook’s section, as Redis and a worker’s end do',
    async () => {
      if (openRedis === undefined) throw new Error('skipped');
      const redis = await openRedis();
      closing.push(() => redis.close());
      const [counting, doomed] = await Promise.all([start(startApi, { REDIS_URL: redis.url }), start(startWorker)]);
      const [receiver, arrived] = await openReceiver();
      await startMonitoring({ api: [api, counting], worker: [mailer, doomed] }, receiver);
      expect([...arrived.keys()]).toEqual([]);
      gate.shut();
      await redis.kill();
      sink.trouble = { at: 'greeting', by: 554 };
      await doomed.process.stop('SIGKILL');
      const alerts = ['PostgresqlLost', 'RedisLost', 'MailServerLost', 'WorkerDown'];
      await until(() => alerts.every((alert) => arrived.has(alert)), { within: 400_000 });
      for (const alert of alerts) {
        expect(arrived.get(alert)).toBe(`docker/runbook.md#${alert.toLowerCase()}`);
      }
      const [loss] = changesIn(mailer, 'smtp');
      expect(loss).toMatchObject({
        level: WARN,
        msg: 'The mail server is lost',
        reason: expect.stringMatching(/554/),
      });
      expect(await gaugeOf(mailer, 'smtp')).toBe('0');
    },
  );
});

/** The alerts that have arrived, with the section of the runbook that each names. */
type Arrived = ReadonlyMap<string, string | undefined>;

interface Notification {
  readonly alerts: readonly {
    readonly labels: { readonly alertname: string };
    readonly annotations: { readonly runbook_url?: string };
  }[];
}

async function openReceiver(): Promise<[url: string, arrived: Arrived]> {
  const arrived = new Map<string, string | undefined>();
  const server = createHttpServer((request, response) => {
    void text(request).then((body) => {
      for (const { labels, annotations } of (JSON.parse(body) as Notification).alerts)
        arrived.set(labels.alertname, annotations.runbook_url);
      response.end();
    });
  });
  return [`http://127.0.0.1:${await listening(server)}/`, arrived];
}

/** Starts Prometheus with the operator's own rules, and Alertmanager. Waits until all targets are up. */
async function startMonitoring(jobs: Readonly<Record<string, readonly Service[]>>, receiver: string): Promise<void> {
  const launch = (program: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}) => {
    const env = { PATH: process.env['PATH'], ...environment };
    const child: ChildProcess = spawn(program, args, { stdio: 'ignore', env });
    closing.push(() => child.kill('SIGKILL'));
  };
  const [port, alertPort] = await Promise.all([freePort(), freePort()]);
  const addresses = [`--web.listen-address=127.0.0.1:${alertPort}`, '--cluster.listen-address='];
  launch(join(CONFIGURATION, 'alertmanager.sh'), [`--storage.path=${folder.path}/alertmanager`, ...addresses], {
    ALERTMANAGER: join(alertmanager ?? '', 'prometheus-alertmanager'),
    CONFIG: join(folder.path, 'alertmanager.yml'),
    ALERT_WEBHOOK_URL: receiver,
  });
  const rules = join(folder.path, 'alerts.yml');
  const faster = (_text: string, seconds: string) => `for: ${Number(seconds) / FASTER}s`;
  writeFileSync(rules, readFileSync(join(CONFIGURATION, 'alerts.yml'), 'utf8').replace(/for: (\d+)s/g, faster));
  const configuration = {
    ...(parse(readFileSync(join(CONFIGURATION, 'prometheus.yml'), 'utf8')) as object),
    global: { scrape_interval: INTERVAL, evaluation_interval: INTERVAL },
    rule_files: [rules],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertPort}`] }] }] },
    scrape_configs: Object.entries(jobs).map(([job_name, services]) => ({
      job_name,
      static_configs: [{ targets: services.map(({ metrics }) => new URL(metrics).host) }],
    })),
  };
  writeFileSync(join(folder.path, 'prometheus.yml'), stringify(configuration));
  launch(join(prometheus ?? '', 'prometheus'), [
    `--config.file=${folder.path}/prometheus.yml`,
    `--storage.tsdb.path=${folder.path}/prometheus`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  const targets = Object.values(jobs).flat().length;
  await until(async () => {
    const asked = fetch(`http://127.0.0.1:${port}/api/v1/query?query=sum(up)`);
    // Before it is ready, it answers in plain text.
    return (await asked.then((response) => response.text()).catch(() => '')).includes(`"${targets}"`);
  });
}
