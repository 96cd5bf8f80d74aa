import { renameSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { get as getPlain, type IncomingMessage } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { Agent, get as getSecure } from 'node:https';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import {
  connectTo,
  createDatabase,
  DatabaseGate,
  freePort,
  type Running,
  temporaryFolder,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { type RunningPortal, runPortal } from '@adoption-store/portal/testing/portal-process';
import { makeCertificate, OPENSSL } from '../support/certificate.js';
import { addPets, expectNoFailure, isLate, issueKeys } from '../support/faults.js';
import { isSuccess, Load, type LoadKeys } from '../support/load.js';
import { HAPROXY, Proxy } from '../support/proxy.js';
import { startApi } from '../support/services.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: TestDatabase;
let client: pg.Client;
/** Between the instances and the database. */
let gate: DatabaseGate;
let keys: LoadKeys;
let proxy: Proxy;
let portal: RunningPortal;
const ports: number[] = [];
const instances: Running[] = [];
/** The file of the proxy's certificate, which is one of the two. */
let file: string;
let first: ReturnType<typeof makeCertificate>;
let second: ReturnType<typeof makeCertificate>;

/** An instance keeps its address when it is replaced, as a container keeps its name. */
async function startInstance(index: number): Promise<void> {
  const { service } = await startApi({
    DATABASE_URL: gate.url,
    PORT: String(ports[index]),
    TRUST_PROXY: '127.0.0.1',
    ADDRESS_LIMIT: '5',
    LAME_DUCK: '2s',
    SHUTDOWN_TIMEOUT: '7s',
    LOG_LEVEL: 'info',
  });
  instances[index] = service;
}

async function endInstance(index: number): Promise<void> {
  expect(await instances[index]?.stop('SIGTERM')).toMatchObject({ code: 0 });
}

const authorities = () => [first.certificate, second.certificate];

/** The certificate of a new connection. */
async function served(): Promise<string> {
  const socket = connectTls({ host: '127.0.0.1', port: proxy.port, ca: authorities() });
  await once(socket, 'secureConnect');
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  return raw.toString('base64');
}

/** As `served` writes it. */
function base64Of({ certificate }: { readonly certificate: string }): string {
  return certificate.replace(/-----.*-----|\s/g, '');
}

async function get(path: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  const request = getSecure(`${proxy.origin}${path}`, { ca: authorities(), headers });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response.resume();
}

const trusting = () => new Agent({ keepAlive: true, maxSockets: 64, ca: authorities() });

/** Runs a load through the proxy during the work. Expects that no acknowledged write is lost. Returns the failures. */
async function failuresDuring(work: (load: Load) => Promise<void>) {
  const load = new Load(proxy.origin, keys, await addPets(client, 20_000), trusting()).start({
    readers: 3,
    writers: 3,
  });
  await load.answered(200);
  await work(load);
  await load.answered(200);
  await load.stop();
  expect(await load.losses(client)).toEqual({ lost: [], doubled: [] });
  return load.answers.filter((answer) => !isSuccess(answer));
}

(HAPROXY === undefined || OPENSSL === undefined ? describe.skip : describe)('the proxy of the compose file', () => {
  beforeAll(async () => {
    folder = await temporaryFolder();
    [first, second] = [makeCertificate(folder.path), makeCertificate(folder.path)];
    file = join(folder.path, 'store.pem');
    writeFileSync(file, first.pem);
    database = await createDatabase();
    client = await connectTo(database.url);
    gate = await DatabaseGate.open(database.url);
    ports.push(await freePort(), await freePort());
    await Promise.all([startInstance(0), startInstance(1)]);
    const [PORTAL_PORT, PORTAL_URL] = [String(await freePort()), 'https://portal.localhost'];
    portal = await runPortal(database.url, { TRUST_PROXY: '127.0.0.1', PORTAL_PORT, PORTAL_URL });
    keys = await issueKeys({ DATABASE_URL: database.url }, client);
    const [API_1 = '', API_2 = '', PORTAL = ''] = [...ports, PORTAL_PORT].map((port) => `127.0.0.1:${port}`);
    proxy = await Proxy.start({ API_1, API_2, PORTAL, PORTAL_URL, TLS_CERTIFICATE: file });
    await proxy.hasServers('api', 2);
    await proxy.hasServers('portal', 1);
  });

  afterAll(async () => {
    await proxy.stop();
    await Promise.all([...instances, portal.process].map((process) => process.stop()));
    gate.shut();
    await client.end();
    await database.drop();
    await folder.remove();
  });

  it('serves the API and the portal, each by its name', async () => {
    const api = await get('/v1/pets', { host: 'localhost' });
    expect(api.statusCode).toBe(401);
    expect(api.headers['content-type']).toBe('application/json; charset=utf-8');
    const id = String(api.headers['x-request-id']);
    expect(await proxy.lineOf(id)).toMatchObject({ backend: 'api', status: 401 });
    await until(() => instances.some(({ stdout }) => stdout.includes(`"request_id":"${id}"`)));
    const page = await get('/', { host: 'portal.localhost' });
    expect(page.statusCode).toBe(200);
    expect(page.headers['strict-transport-security']).toContain('max-age=');
  });

  it('serves HTTP/2', async () => {
    const session = connectHttp2(proxy.origin, { ca: authorities(), servername: 'localhost' });
    const stream = session.request({ [constants.HTTP2_HEADER_PATH]: '/v1/pets' });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(headers).toMatchObject({ ':status': 401, 'x-request-id': expect.any(String) });
    session.destroy();
  });

  it('serves nothing without TLS, and logs the attempt', async () => {
    const request = getPlain(`http://127.0.0.1:${proxy.port}/v1/pets`);
    expect(await once(request, 'error')).toMatchObject([{ code: 'ECONNRESET' }]);
    await until(() => proxy.log.includes('"SSL handshake failure"'));
  });

  // In this order, because a slower round trip doesn't open connections anew. The last one is that of the other tests.
  it.each([300, 600, 800, 0])(
    'answers as the instances do by themselves while the database is slow: round trips of %d ms',
    async (roundTrip) => {
      gate.setRoundTrip(roundTrip);
      const loads = [
        new Load(proxy.origin, keys, [].values(), trusting()),
        ...ports.map((port) => new Load(`http://127.0.0.1:${port}`, keys, [].values())),
      ];
      for (const load of loads) load.start({ readers: 4 });
      await Promise.all(loads.flatMap((load) => [load.answered(20), load.answered(1, isSuccess)]));
      for (const load of loads) {
        await load.stop();
        // The instances have other words. On a busy machine the proxy may give up one that is late.
        expect(load.answers.filter((answer) => answer.body.includes('is unavailable') && !isLate(answer))).toEqual([]);
      }
    },
  );

  it('serves a renewed certificate after one signal, and loses no request', async () => {
    await expectNoFailure((time) => {
      const [former, renewed] = time % 2 === 1 ? [first, second] : [second, first];
      return failuresDuring(async () => {
        expect(await served()).toBe(base64Of(former));
        // As an ACME client does: the file is complete at every moment.
        writeFileSync(`${file}.new`, renewed.pem);
        renameSync(`${file}.new`, file);
        proxy.child.kill('SIGUSR2');
        await until(async () => (await served()) === base64Of(renewed), { what: 'the renewed certificate' });
      });
    });
  });

  it('fails no request while the instances are replaced one by one', async () => {
    await expectNoFailure(() =>
      failuresDuring(async (load) => {
        for (const index of [0, 1]) {
          await endInstance(index);
          await load.answered(100);
          await startInstance(index);
          // As an operator does after reading the proxy's log.
          await proxy.hasServers('api', 2);
        }
      }),
    );
  });

  it('fails no request that another instance can take when one is killed, and doubles none', async () => {
    await expectNoFailure(async () => {
      const failed = await failuresDuring(async () => {
        await instances[0]?.stop('SIGKILL');
      });
      await startInstance(0);
      await proxy.hasServers('api', 2);
      // Writes that were on their way to the instance: their clients get 503, or no response. With an Idempotency-Key they
      // are sent again, and PostgreSQL may still be ending the first one.
      return failed.filter(({ what, status }) => what !== 'write' || ![0, 409, 503].includes(status));
    });
  });

  it('answers each request of a frozen instance, fails none once it is out, and uses it again when it goes on', async () => {
    await expectNoFailure(async () => {
      let out = Infinity;
      const failed = await failuresDuring(async (load) => {
        instances[0]?.child.kill('SIGSTOP');
        await proxy.hasServers('api', 1);
        out = performance.now();
        // The requests of the frozen instance are answered before it continues.
        await load.settled();
        await load.answered(200, ({ begin }) => begin > out);
        instances[0]?.child.kill('SIGCONT');
        await proxy.hasServers('api', 2);
      });
      // The other instance answers the reads of the frozen one, and the writes with an Idempotency-Key.
      return failed.filter(({ what, status, begin }) => what === 'read' || ![409, 503].includes(status) || begin > out);
    });
  });
});
