import { renameSync, writeFileSync } from 'node:fs';
import { get as getPlain, type IncomingMessage } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { Agent, get as getSecure } from 'node:https';
import { once } from 'node:events';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  createDatabase,
  freePort,
  type Running,
  temporaryFolder,
  type TestDatabase,
  until,
} from '@adoption-store/test-support';
import { makeCertificate, OPENSSL } from '../support/certificate.js';
import { addPets, countOf, issueKeys, startService, tell } from '../support/faults.js';
import { isSuccess, Load, type LoadKeys } from '../support/load.js';
import { type RunningPortal, runPortal } from '../support/portal-process.js';
import { HAPROXY, Proxy } from '../support/proxy.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: TestDatabase;
let client: pg.Client;
let keys: LoadKeys;
let proxy: Proxy;
let portal: RunningPortal;
let instances: readonly Running[];
let file: string;
let first: ReturnType<typeof makeCertificate>;
let second: ReturnType<typeof makeCertificate>;

/** The certificate of a new connection. */
async function served(): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: proxy.port, ca: [first.certificate, second.certificate] });
  await once(socket, 'secureConnect');
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  return raw.toString('base64');
}

async function get(host: string, path: string): Promise<IncomingMessage> {
  const request = getSecure(`${proxy.origin}${path}`, { ca: first.certificate, headers: { host } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response;
}

/** As `served` writes it. */
function base64Of({ certificate }: { readonly certificate: string }): string {
  return certificate.replace(/-----.*-----|\s/g, '');
}

(HAPROXY === undefined || OPENSSL === undefined ? describe.skip : describe)('the proxy with a certificate', () => {
  beforeAll(async () => {
    folder = await temporaryFolder();
    [first, second] = [makeCertificate(folder.path), makeCertificate(folder.path)];
    file = join(folder.path, 'store.pem');
    writeFileSync(file, first.pem);
    database = await createDatabase();
    client = new pg.Client(database.url);
    await client.connect();
    const started = await Promise.all(
      [1, 2].map(() => startService({ DATABASE_URL: database.url, TRUST_PROXY: '127.0.0.1' })),
    );
    instances = started.map(({ service }) => service);
    const [PORTAL_PORT, PORTAL_URL] = [String(await freePort()), 'https://portal.localhost'];
    portal = await runPortal(database.url, { TRUST_PROXY: '127.0.0.1', PORTAL_PORT, PORTAL_URL });
    keys = await issueKeys({ DATABASE_URL: database.url }, client);
    const [API_1 = '', API_2 = ''] = started.map(({ origin }) => new URL(origin).host);
    proxy = await Proxy.start({
      API_1,
      API_2,
      PORTAL: `127.0.0.1:${PORTAL_PORT}`,
      PORTAL_URL,
      TLS_CERTIFICATE: file,
    });
    await proxy.hasServers('api', 2);
    await proxy.hasServers('portal', 1);
  });

  afterAll(async () => {
    await proxy.stop();
    await Promise.all([...instances, portal.process].map((process) => process.stop()));
    await client.end();
    await database.drop();
    await folder.remove();
  });

  it('serves the API and the portal, each by its name', async () => {
    const api = await get('localhost', '/v1/pets');
    expect(api.statusCode).toBe(401);
    expect(api.headers['content-type']).toBe('application/json; charset=utf-8');
    const page = await get('portal.localhost', '/');
    expect(page.statusCode).toBe(200);
    expect(page.headers['strict-transport-security']).toContain('max-age=');
  });

  it('serves HTTP/2', async () => {
    const session = connectHttp2(proxy.origin, { ca: first.certificate });
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

  it('serves a renewed certificate after one signal, and loses no request', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 64, ca: [first.certificate, second.certificate] });
    const load = new Load(proxy.origin, keys, await addPets(client, 20_000), agent).start({ readers: 6, writers: 6 });
    await load.answered(200);
    expect(await served()).toBe(base64Of(first));
    // As an ACME client does: the file is there, whole, at every moment.
    writeFileSync(`${file}.new`, second.pem);
    renameSync(`${file}.new`, file);
    const signalled = performance.now();
    proxy.child.kill('SIGUSR2');
    await until(async () => (await served()) === base64Of(second), { what: 'the renewed certificate' });
    const renewed = performance.now();
    await load.answered(500);
    await load.stop();
    tell('renewal', `new certificate after ${Math.round(renewed - signalled)} ms; ${countOf(load.answers)}`);
    expect(load.answers.filter((answer) => !isSuccess(answer))).toEqual([]);
    expect(await load.losses(client)).toEqual({ lost: [], doubled: [] });
  });
});
