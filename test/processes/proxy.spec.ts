import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { addPets, issueKeys, startService } from '../support/faults.js';
import { isSuccess, Load, type LoadKeys } from '../support/load.js';
import { freePort, type Running } from '../support/processes.js';
import { folderOf } from '../support/programs.js';
import { until } from '../support/until.js';

const folder = folderOf('the proxy', 'haproxy', 'haproxy');
const config = join(__dirname, '../../docker/haproxy.cfg');

let database: TestDatabase;
let client: pg.Client;
let proxy: ChildProcess;
let origin: string;
let keys: LoadKeys;
const ports: number[] = [];
const instances: Running[] = [];

/** Stays at its address when it is replaced, as a container keeps its name. */
async function startInstance(index: number): Promise<void> {
  const { service } = await startService({
    DATABASE_URL: database.url,
    PORT: String(ports[index]),
    TRUST_PROXY: '127.0.0.1',
    ADDRESS_LIMIT: '5',
    LAME_DUCK: '2s',
    SHUTDOWN_TIMEOUT: '6s',
  });
  instances[index] = service;
}

async function endInstance(index: number): Promise<void> {
  expect(await instances[index]?.stop('SIGTERM')).toMatchObject({ code: 0 });
}

/** How many are open, as Linux tells (proc(5), /proc/net/tcp); elsewhere they may be any number. */
function connectionsTo(port: number): number {
  if (process.platform !== 'linux') return Infinity;
  const remoteAndState = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 01`;
  return readFileSync('/proc/net/tcp', 'utf8').split(` ${remoteAndState} `).length - 1;
}

/** With a key that nobody has. */
async function asStranger(forwardedFor: string): Promise<number> {
  const headers = { authorization: 'Bearer nobody', 'x-forwarded-for': forwardedFor };
  return (await fetch(`${origin}/v1/pets`, { headers })).status;
}

(folder === undefined ? describe.skip : describe)('the API behind the proxy of the compose file', () => {
  beforeAll(async () => {
    database = await createDatabase();
    client = new pg.Client(database.url);
    await client.connect();
    ports.push(await freePort(), await freePort());
    await Promise.all([startInstance(0), startInstance(1)]);
    keys = await issueKeys({ DATABASE_URL: database.url }, client);
    const address = `127.0.0.1:${await freePort()}`;
    origin = `http://${address}`;
    const [API_1, API_2] = ports.map((port) => `127.0.0.1:${port}`);
    proxy = spawn(join(folder ?? '', 'haproxy'), ['-db', '-f', config], {
      env: { PROXY_ADDRESS: address, API_1, API_2 },
      stdio: 'ignore',
    });
    await until(async () =>
      fetch(`${origin}/v1/pets`).then(
        ({ status }) => status === 401,
        () => false,
      ),
    );
  });

  afterAll(async () => {
    proxy.kill('SIGKILL');
    await once(proxy, 'exit');
    await Promise.all(instances.map((instance) => instance.stop()));
    await client.end();
    await database.drop();
  });

  it('fails no request while one instance after the other is replaced', async () => {
    const load = new Load(origin, keys, await addPets(client, 20_000)).start({ readers: 6, writers: 6 });
    await load.answered(200);
    for (const index of [0, 1]) {
      await endInstance(index);
      await load.answered(100);
      await startInstance(index);
    }
    await load.answered(200);
    await load.stop();
    expect(load.answers.filter((answer) => !isSuccess(answer)).slice(0, 5)).toEqual([]);
    expect(await load.losses(client)).toEqual({ lost: [], doubled: [] });
  });

  it('fails no request that could be sent to another when one is killed, and sends nothing twice that may have happened', async () => {
    const load = new Load(origin, keys, await addPets(client, 20_000)).start({ readers: 6, writers: 6 });
    await load.answered(200);
    const connections = connectionsTo(ports[0] ?? 0);
    await instances[0]?.stop('SIGKILL');
    await load.answered(200);
    await load.stop();
    const failed = load.answers.filter((answer) => !isSuccess(answer));
    expect(failed.map(({ what }) => what)).not.toContain('read');
    // At most one write for each connection that the proxy had to it, idle ones included: it hasn't noticed yet.
    expect(connections).toBeGreaterThan(0);
    expect(failed.length).toBeLessThanOrEqual(connections);
    expect(await load.losses(client)).toEqual({ lost: [], doubled: [] });
    await startInstance(0);
  });

  it('counts strangers by the address that the proxy sees, whatever they claim', async () => {
    const statuses = [];
    for (let turn = 0; turn < 20; turn += 1) statuses.push(await asStranger(`203.0.113.${turn}`));
    expect(statuses).toContain(429);
  });

  it.each(['/livez', '/readyz', '/metrics'])('keeps %s from clients', async (path) => {
    expect((await fetch(origin + path)).status).toBe(404);
  });

  it('refuses as the API does while no instance is ready', async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
    const response = await fetch(`${origin}/v1/pets`);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual({
      code: 'service_unavailable',
      message: 'the service is unavailable',
      status: 503,
    });
  });
});
