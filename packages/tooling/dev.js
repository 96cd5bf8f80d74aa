/**
 * `npm run dev` runs the API, the portal and the worker from their sources. Each restarts when one of its files changes.
 * Run it in the repository's root. Types are not checked here: editors and `npm run lint` do that.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { watch } from 'chokidar';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
/** Those that package.json has a `start:` for, in its order: the first one starts the database for all. */
const SERVICES = Object.keys(scripts).flatMap((script) => /^start:(.+)$/.exec(script)?.[1] ?? []);
const WATCHED = ['src', 'views', 'public'];
/** Milliseconds to wait for further changes, such as those of `git switch`. */
const GATHERING = 50;

const running = new Map();
const changed = new Set(SERVICES);
const stopping = new AbortController();
const { signal } = stopping;

// A Ctrl-C arrives twice: from the terminal, and from npm.
for (const name of ['SIGINT', 'SIGTERM'])
  process.on(name, () => {
    stopping.abort();
    for (const { child } of running.values()) child.kill('SIGINT');
  });

const folders = ['apps', 'packages']
  .flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
  .flatMap((workspace) => WATCHED.map((name) => join(workspace, name)))
  .filter((folder) => existsSync(folder));
const watcher = watch(folders, { ignoreInitial: true }).on('all', (_event, path) => {
  for (const service of servicesThatRead(path)) changed.add(service);
  watcher.emit('changed');
});
await once(watcher, 'ready');

while (!signal.aborted) {
  for (const service of SERVICES) if (changed.delete(service) && !signal.aborted) await startAgain(service);
  if (changed.size === 0) await once(watcher, 'changed', { signal }).catch(() => undefined);
  await delay(GATHERING, undefined, { signal }).catch(() => undefined);
}
await Promise.all(SERVICES.map(stop));
await watcher.close();

function servicesThatRead(path) {
  const [parent, name] = path.split(sep);
  if (path.endsWith('.spec.ts')) return [];
  return parent === 'packages' ? SERVICES : SERVICES.filter((service) => service === name);
}

/** Waits until the service is ready or has ended. */
async function startAgain(service) {
  await stop(service);
  const args = ['--import=@swc-node/register/esm-register', '--conditions=@adoption-store/source'];
  const child = spawn(process.execPath, [...args, `apps/${service}/src/main.ts`], {
    // Through the channel (ipc) the service notices that this process was killed.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, SWC_NODE_PROJECT: `apps/${service}/tsconfig.json` },
  });
  const ended = once(child, 'exit');
  running.set(service, { child, ended });
  child.once('exit', () => {
    if (!child.killed && !signal.aborted)
      console.error(`The ${service} has ended. It starts again at the next change.`);
  });
  await Promise.race([once(child, 'message'), ended]);
}

async function stop(service) {
  const { child, ended } = running.get(service) ?? {};
  child?.kill('SIGINT');
  await ended;
}
