import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../support/free-port.mjs';

/** Starts the PostgreSQL of a Debian tree, and this machine's Redis. */
export async function startDatabases(debian) {
  const [port, redisPort] = [await freePort(), await freePort()];
  const bin = `export PATH="$(echo /usr/lib/postgresql/*/bin):/usr/bin"`;
  const script = `${bin}; set -e; initdb -D /tmp/data -U store -A trust -E UTF8 --no-sync >/dev/null;
    exec postgres -D /tmp/data -k /tmp -c listen_addresses=127.0.0.1 -c port=${port} -c fsync=off`;
  const postgres = spawn('chroot', ['--userspec=postgres:postgres', debian, 'sh', '-c', script], {
    stdio: 'ignore',
    env: { PATH: process.env.PATH },
  });
  const redis = spawn('redis-server', ['--port', String(redisPort), '--save', '', '--bind', '127.0.0.1'], {
    stdio: 'ignore',
  });
  const server = `postgres://store@127.0.0.1:${port}`;
  const databases = {
    url: `${server}/store`,
    redisUrl: `redis://127.0.0.1:${redisPort}`,
    urlOf: (name) => `${server}/${name}`,
    query: (database, statement) => query(`${server}/${database}`, statement),
    async close() {
      for (const [child, signal] of [
        [postgres, 'SIGINT'],
        [redis, 'SIGTERM'],
      ]) {
        if (child.exitCode !== null) continue;
        child.kill(signal);
        await once(child, 'exit');
      }
    },
  };
  for (;;) {
    if (postgres.exitCode !== null) throw new Error(`PostgreSQL has ended with ${postgres.exitCode}`);
    if (await databases.query('postgres', 'CREATE DATABASE store').catch(() => undefined)) return databases;
    await setTimeout(200);
  }
}

async function query(url, statement) {
  const client = new pg.Client(url);
  // Without a listener an error of an idle connection would end this process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}
