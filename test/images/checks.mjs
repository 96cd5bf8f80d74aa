import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../support/free-port.mjs';
import { Container, MOUNTED } from './container.mjs';
import { run } from './run.mjs';

const { fetch } = globalThis;

const root = join(import.meta.dirname, '../..');
const MOST_READY_MS = 120_000;
/** The ports of each service, the first of which its health check asks, and a path with its expected text. */
const SERVICES = {
  api: { ports: ['PORT', 'METRICS_PORT'], path: '/v1/pets?limit=1', text: '[]' },
  portal: { ports: ['PORTAL_PORT', 'PORTAL_METRICS_PORT'], path: '/sign-in', text: '<form' },
  worker: { ports: ['WORKER_PORT'], path: '/metrics', text: 'adoption_store_' },
};
let key;

/** The image of the commands: migrates, creates a key and imports an animal. */
export async function checkCommands(image, databases) {
  await checkFiles(image);
  const node = (...args) =>
    Container.run(image, [...image.config.Entrypoint, ...args], { environment: { DATABASE_URL: databases.url } });
  await node('apps/cli/dist/migrate.js');
  const created = await node(...image.config.Cmd, 'create', '--email', 'images@example.com', '--plan', 'free');
  key = created.trim();
  return { ready: '', ended: '', ran: '`migrate`, `keys create`' };
}

/** The image of a service: its health check and its answer, and that SIGTERM ends it. */
export async function checkService(image, databases) {
  await checkFiles(image);
  const { ports, path, text } = SERVICES[image.target];
  const environment = { DATABASE_URL: databases.url, LAME_DUCK: '2s', SHUTDOWN_TIMEOUT: '10s' };
  if (image.target !== 'worker') environment.REDIS_URL = databases.redisUrl;
  for (const name of ports) environment[name] = String(await freePort());
  const isHealthy = async () =>
    (await new Container(image, image.config.Healthcheck.Test.slice(1), { environment }).ended) === 0;

  expect(!(await isHealthy()), `${image.target}: its health check passes before its start`);
  const begun = Date.now();
  const container = new Container(image, [...image.config.Entrypoint, ...image.config.Cmd], { environment });
  try {
    while (!(await isHealthy())) {
      expect(!container.hasEnded, `${image.target} has ended`);
      expect(Date.now() - begun < MOST_READY_MS, `${image.target} isn't ready`);
    }
    const ready = Date.now() - begun;
    const origin = `http://127.0.0.1:${environment[ports[0]]}`;
    const response = await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } });
    const body = await response.text();
    expect(response.status === 200 && body.includes(text), `${image.target} answers ${response.status} ${body}`);

    const stopped = Date.now();
    container.kill('SIGTERM');
    if (image.target !== 'worker') {
      await setTimeout(100);
      expect(!(await isHealthy()), `${image.target}: its health check passes while it stops`);
    }
    expect((await container.ended) === 0, `${image.target}: SIGTERM ends it with ${await container.ended}`);
    const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`;
    return { ready: seconds(ready), ended: seconds(Date.now() - stopped), ran: `\`GET ${path}\`` };
  } catch (error) {
    console.error(container.output);
    throw error;
  } finally {
    container.kill('SIGKILL');
  }
}

/** The image of the backup: saves, rehearses, restores and settles. */
export async function checkBackup(image, databases) {
  await checkFiles(image);
  const folder = mkdtempSync(join(tmpdir(), 'backups-'));
  chownSync(folder, 65_532, 65_532);
  const bash = (database, ...args) =>
    Container.run(image, [...image.config.Entrypoint, ...args], {
      environment: { DATABASE_URL: databases.urlOf(database) },
      folder,
    });
  try {
    const file = `${MOUNTED}/store.dump`;
    await bash('store', ...image.config.Cmd, file);
    await bash('store', 'rehearse.sh', file);
    await databases.query('postgres', 'CREATE DATABASE restored');
    await bash('restored', 'restore.sh', file);
    await bash('restored', 'settle.sh');
    // As the Kubernetes job does.
    await bash('store', '-euc', `find ${MOUNTED} -name 'store*.dump' -mtime +13 -delete; date -u +%Y`);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { ready: '', ended: '', ran: '`backup.sh`, `rehearse.sh`, `restore.sh`, `settle.sh`' };
}

/** The user, the labels, the bill of materials, and that nothing can be written. */
async function checkFiles(image) {
  const { User, Labels } = image.config;
  expect(/^[1-9]\d*:[1-9]\d*$/.test(User), `${image.target} runs as ${User}`);
  for (const name of ['title', 'description', 'licenses', 'source', 'version', 'revision']) {
    expect(Labels[`org.opencontainers.image.${name}`], `${image.target} has no label ${name}`);
  }
  run('node', [join(root, 'packages/tooling/bill-of-materials.js'), join(image.files, 'app')]);
  const write = `try { fs.writeFileSync('/app/file', '') } catch ({ code }) { console.log(process.arch, process.getuid(), code) }`;
  const written = await Container.run(image, ['/usr/local/bin/node', '-e', write]);
  const arch = image.architecture === 'amd64' ? 'x64' : image.architecture;
  expect(written.trim() === `${arch} 65532 EROFS`, `${image.target}: ${written}`);
}

function expect(condition, otherwise) {
  if (!condition) throw new Error(otherwise);
}
