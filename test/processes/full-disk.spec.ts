import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  API,
  ask,
  createDatabase,
  freePort,
  PORTAL,
  Running,
  START,
  temporaryFolder,
  type TestDatabase,
  until,
  WORKER,
} from '@adoption-store/test-support';
import { startWorker } from '../support/services.js';

/** More lines than are written together. */
const REQUESTS = 100;

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const running: Running[] = [];

beforeAll(async () => {
  [database, folder] = await Promise.all([createDatabase(), temporaryFolder()]);
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop('SIGKILL')));
});

afterAll(() => Promise.all([database.drop(), folder.remove()]));

interface Service {
  readonly process: Running;
  readonly origin: string;
  readonly metrics: string;
}

/** Starts a program with both outputs in a file, or with only its log there. */
async function start(program: string, file: string, errors: 'file' | 'pipe' = 'file'): Promise<Service> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const output = openSync(file, 'a');
  const settings = {
    DATABASE_URL: database.url,
    PORT: String(port),
    PORTAL_PORT: String(program === START ? await freePort() : port),
    WORKER_PORT: String(program === START ? await freePort() : port),
    METRICS_PORT: String(metricsPort),
    PORTAL_METRICS_PORT: program === START ? '0' : String(metricsPort),
    HOST: '127.0.0.1',
    PORTAL_HOST: '127.0.0.1',
    WORKER_HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    LAME_DUCK: '0s',
    ADDRESS_LIMIT: '1000000',
  };
  const process = new Running(program, [], settings, {
    stdio: ['ignore', output, errors === 'file' ? output : 'pipe'],
  });
  closeSync(output);
  running.push(process);
  const origin = `http://127.0.0.1:${port}`;
  await until(async () => {
    if (process.child.exitCode !== null) throw new Error(`it ended with ${process.child.exitCode}: ${process.stderr}`);
    return (await statusOf(`${origin}/readyz`)) === 200;
  });
  return { process, origin, metrics: `http://127.0.0.1:${program === WORKER ? port : metricsPort}/metrics` };
}

async function statusOf(url: string): Promise<number | undefined> {
  return fetch(url).then(
    ({ status }) => status,
    () => undefined,
  );
}

async function droppedLines({ metrics }: Service): Promise<number> {
  const page = await (await fetch(metrics)).text();
  return Number(/^log_lines_dropped_total (\d+)$/m.exec(page)?.[1]);
}

/** Requests that each have a line in the log. */
async function makeRequests({ origin }: Service, status: number, count = REQUESTS): Promise<void> {
  for (let made = 0; made < count; made += 1) expect(await statusOf(`${origin}/nowhere`)).toBe(status);
}

describe('with both outputs on a full disk', () => {
  it.each([
    ['the API', API, 401],
    ['the portal', PORTAL, 404],
  ])('%s answers every request, counts the lost lines, and ends at SIGTERM', async (_name, program, status) => {
    const service = await start(program, '/dev/full');
    await makeRequests(service, status);
    await until(async () => (await droppedLines(service)) >= REQUESTS);
    await makeRequests(service, status);
    expect(await service.process.stop('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('the worker that delivers messages to its log keeps them, and ends at SIGTERM; the next one delivers each once', async () => {
    const [account] = await ask<{ id: string }>(
      database.url,
      `INSERT INTO accounts (email, plan, created_at) VALUES ('a@example.com', 'free', now()) RETURNING id`,
    );
    const service = await start(WORKER, '/dev/full');
    await ask(
      database.url,
      `INSERT INTO messages (id, account_id, text, status, created_at, due_at)
       VALUES ('msg_kept', ${account?.id}, 'Hello', 'queued', now(), now())`,
    );
    await until(async () => (await droppedLines(service)) > 0);
    expect(await statusOf(`${service.origin}/livez`)).toBe(200);
    expect(await ask(database.url, 'SELECT status FROM messages')).toEqual([{ status: 'queued' }]);
    expect(await service.process.stop('SIGTERM')).toMatchObject({ code: 0 });
    const { service: next } = await startWorker({ DATABASE_URL: database.url });
    running.push(next);
    await next.prints(/"outcome":"sent"/);
    expect(next.stdout.match(/"message":"msg_kept".*"text":"Hello"/g)).toHaveLength(1);
  });

  it('npm start serves, and ends at SIGTERM', async () => {
    const service = await start(START, '/dev/full');
    await makeRequests(service, 401);
    expect(await service.process.stop('SIGTERM')).toMatchObject({ code: 0 });
  });
});

describe('a log on a disk that is full for a while', () => {
  /** Limits how large the files of a process may become, as a quota does: longer writes are cut, and further ones fail. */
  function limitFiles({ process }: Service, bytes: number | 'unlimited'): void {
    execFileSync('prlimit', ['--pid', String(process.child.pid), `--fsize=${bytes}:`]);
  }

  it.each([
    ['the API', API, 401],
    ['the portal', PORTAL, 404],
  ])(
    '%s goes on with whole lines when there is room again, and says what is missing',
    async (name, program, status) => {
      const file = join(folder.path, name);
      const service = await start(program, file, 'pipe');
      await makeRequests(service, status, 1);
      await until(() => readFileSync(file, 'utf8').includes('"msg":"request"'));
      limitFiles(service, statSync(file).size + 100);
      await makeRequests(service, status);
      await until(async () => (await droppedLines(service)) >= REQUESTS);
      limitFiles(service, 'unlimited');
      await makeRequests(service, status);
      const { code, stderr } = await service.process.stop('SIGTERM');
      expect(code).toBe(0);
      expect(stderr.match(/the log can't be written/g)).toHaveLength(1);
      const [torn, ...others] = readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .filter((line) => !line.endsWith('}'));
      expect([torn?.length, others]).toEqual([100, []]);
      const lines = readFileSync(file, 'utf8').match(/^\{.*\}$/gm) ?? [];
      const parsed = lines.map((line) => JSON.parse(line) as { readonly status?: number; readonly dropped?: number });
      // Without the probes from before it was ready.
      expect(parsed.filter((line) => line.status === status)).toHaveLength(1 + REQUESTS);
      expect(parsed.filter(({ dropped }) => dropped !== undefined)).toEqual([
        expect.objectContaining({ dropped: REQUESTS, msg: 'lines of this log could not be written' }),
      ]);
    },
  );
});
