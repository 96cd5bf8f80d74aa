import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, cp, lchown, lstat, mkdir, mkdtemp, readFile, readdir } from 'node:fs/promises';
import { realpath, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { openEmbeddedPostgres } from './embedded-postgres.js';
import { isAlive as exists } from './server.js';

jest.setTimeout(90_000);

const isRoot = process.getuid?.() === 0;
// Not skipped: CI fails at a skipped test, and needn't be root.
const asRoot: (...test: Parameters<typeof it>) => void = isRoot ? it : () => undefined;
/** Users that exist on every system (initdb looks up their names): nobody, and daemon. */
const [nobody, somebody] = [65_534, 1];
const fast = { fsync: 'off' };

/** The package as it is built. */
const built = join(__dirname, '..');

/** A service: opens the database, prints the result, and closes when asked to or when the tests have ended. */
const service = `
import { createInterface } from 'node:readline';
const [code, options] = process.argv.slice(1);
const { openEmbeddedPostgres } = await import(code);
try {
  const postgres = await openEmbeddedPostgres(JSON.parse(options));
  console.log('open ' + new URL(postgres.url).searchParams.get('host'));
  for await (const line of createInterface(process.stdin)) if (line === 'close') break;
  process.stdin.destroy();
  await postgres.close();
  console.log('closed');
} catch (error) {
  console.log('failed ' + error.message);
}
`;

/** Holds the data of each test. Everyone can enter it, so only the data's own modes protect it. */
let place: string;
let data: string;
/**
 * A data folder with a database, for all tests whose subject isn't its creation. They move it to their place, and back.
 * Its name has what a shell or a list would misread.
 */
let prepared: string;
let isPrepared = false;
let users: ChildProcess[] = [];
const seenServers = new Set<number>();

function startUser({ settings = fast, code = built }: { settings?: Record<string, string>; code?: string } = {}) {
  const options = JSON.stringify({ dataDirectory: data, settings });
  const args = ['--input-type=module', '--eval', service, join(code, 'dist/embedded-postgres.js'), options];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  users.push(child);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  /** The next line of its output. */
  const next = async () => String((await lines.next()).value);
  /** Resolves once the process has ended by itself. */
  const leave = async () => {
    const exit = once(child, 'exit');
    child.stdin.write('close\n');
    expect(await next()).toBe('closed');
    await exit;
  };
  /** The folder of the Unix socket. */
  const opened = async () => (await next()).replace('open ', '');
  return { process: child, pid: child.pid ?? 0, next, opened, leave };
}

/** Puts a database into the data folder. */
async function putDatabase(): Promise<void> {
  await mkdir(dirname(data), { recursive: true });
  await rename(prepared, data);
  isPrepared = true;
  await truncate(join(data, 'postgres.log'));
}

/** Opens the database in this process. `host` is the folder of its Unix socket. */
async function open(onEvent: (message: string) => void = () => undefined) {
  const { url, close } = await openEmbeddedPostgres({ dataDirectory: data, settings: fast, onEvent });
  const host = new URL(url).searchParams.get('host') ?? '';
  await serverPids(host);
  return { host, close };
}

async function ask<Row extends pg.QueryResultRow>(host: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ host, port: 5432, user: 'postgres', database: 'adoption_store' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function startTime(host: string): Promise<string | undefined> {
  return (await ask<{ at: string }>(host, 'SELECT pg_postmaster_start_time()::text AS at'))[0]?.at;
}

async function postmaster(): Promise<number> {
  const pid = Number.parseInt(await readFile(join(data, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  seenServers.add(pid);
  return pid;
}

/** The postmaster is first: it would restart its children. */
async function serverPids(host: string): Promise<number[]> {
  const rows = await ask<{ pid: number }>(host, 'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
  const pids = [await postmaster(), ...rows.map(({ pid }) => pid)];
  for (const pid of pids) seenServers.add(pid);
  return pids;
}

function kill(pids: readonly number[], signal: NodeJS.Signals = 'SIGKILL'): void {
  for (const pid of pids) if (isAlive(pid)) process.kill(pid, signal);
}

/** Counts a zombie (ended, but not reaped by its parent) as dead. */
function isAlive(pid: number): boolean {
  try {
    return exists(pid) && !/\) [ZX] /.test(readFileSync(`/proc/${String(pid)}/stat`, 'utf8'));
  } catch {
    // Elsewhere than on Linux, or ended just now.
    return process.platform !== 'linux';
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(10);
}

beforeAll(async () => {
  prepared = join(await mkdtemp(join(await realpath(tmpdir()), 'prepared-')), 'b, "c" é');
  // Flushed to disk, as for a service; the test of creation doesn't wait for that.
  await (await openEmbeddedPostgres({ dataDirectory: prepared })).close();
});

beforeEach(async () => {
  place = await mkdtemp(join(await realpath(tmpdir()), 'place-'));
  await chmod(place, 0o755);
  data = join(place, 'data');
});

afterEach(async () => {
  for (const user of users) user.kill('SIGKILL');
  users = [];
  kill([await postmaster().catch(() => 0)].filter(Boolean), 'SIGQUIT');
  await until(() => [...seenServers].every((pid) => !isAlive(pid)));
  seenServers.clear();
  if (isPrepared) await rename(data, prepared);
  isPrepared = false;
  await rm(place, { recursive: true, force: true });
});

afterAll(() => rm(dirname(prepared), { recursive: true, force: true }));

it('with a given database the launcher is never loaded, and no folder is created', async () => {
  jest.doMock('./embedded-postgres.js', () => {
    throw new Error('the launcher was loaded');
  });
  await jest.isolateModulesAsync(async () => {
    const { openDatabase } = await import('./index.js');
    const open = (databaseUrl?: string) => openDatabase({ databaseUrl, dataDirectory: data });
    expect(await open('postgres://given/one')).toEqual({ databaseUrl: 'postgres://given/one' });
    await expect(open()).rejects.toThrow('the launcher was loaded');
  });
  await expect(stat(data)).rejects.toThrow('ENOENT');
});

describe('the database', () => {
  it('sorts UTF-8 alike on every machine, and keeps all rows after kill -9 of everything', async () => {
    await putDatabase();
    const user = startUser({ settings: {} });
    const host = await user.opened();
    const [row] = await ask(
      host,
      `SELECT current_database() AS name, current_setting('server_encoding') AS encoding,
              current_setting('fsync') AS fsync, current_setting('listen_addresses') AS network,
              lower('ÄÖ') AS folded, 'Z' < 'a' AS ordered`,
    );
    const text = { encoding: 'UTF8', folded: 'äö', ordered: true };
    expect(row).toEqual({ name: 'adoption_store', fsync: 'on', network: '', ...text });
    await ask(host, 'CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n');
    kill([user.pid, ...(await serverPids(host))]);
    const again = await open();
    const kept = await ask(again.host, 'SELECT count(*)::int, sum(n)::int FROM kept');
    expect(kept).toEqual([{ count: 1000, sum: 500_500 }]);
    await again.close();
  });

  it('is created completely after a killed attempt, by two processes at once, which share one server', async () => {
    const killed = startUser();
    const files = () => readdir(data, { recursive: true }).catch(() => []);
    await until(async () => (await files()).some((name) => /\.draft-.*PG_VERSION/.test(name)));
    process.kill(-killed.pid, 'SIGKILL');
    const [first, second] = [startUser(), startUser()];
    const host = join(data, 'socket');
    expect(await Promise.all([first.next(), second.next()])).toEqual([`open ${host}`, `open ${host}`]);
    expect(await ask(host, `SELECT FROM pg_stat_activity WHERE application_name LIKE 'lease of %'`)).toHaveLength(2);
    for (const folder of [host, join(data, 'postgres')]) expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const before = await startTime(host);
    const pids = await serverPids(host);
    await first.leave();
    expect(await startTime(host)).toBe(before);
    await second.leave();
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describe('sharing', () => {
  it('a process that starts while the last one leaves gets a server', async () => {
    await putDatabase();
    let present = await open();
    for (let round = 0; round < 4; round++) {
      const [, next] = await Promise.all([present.close(), delay(round).then(() => open())]);
      expect(await startTime(next.host)).toBeDefined();
      present = next;
    }
    await present.close();
  });

  it('a server outlives a Ctrl-C and a kill -9 of its users; the last one stops it, noticed or not', async () => {
    await putDatabase();
    const interrupted = startUser();
    const host = await interrupted.opened();
    const before = await startTime(host);
    const pids = await serverPids(host);
    process.kill(-interrupted.pid, 'SIGINT');
    await once(interrupted.process, 'exit');
    const [killed, last] = [startUser(), await open()];
    await killed.next();
    expect(await startTime(host)).toBe(before);
    const itsLease = `SELECT pid FROM pg_stat_activity WHERE application_name = 'lease of ${String(killed.pid)}'`;
    const [lease] = await ask<{ pid: number }>(host, itsLease);
    // As on a machine under heavy load, the server doesn't notice that the process is dead.
    kill([lease?.pid ?? 0], 'SIGSTOP');
    kill([killed.pid]);
    await once(killed.process, 'exit');
    const left = last.close();
    const shared = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'`;
    await until(async () => (await ask(host, shared)).length === 1);
    kill([lease?.pid ?? 0], 'SIGCONT');
    await left;
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describe('a lost server', () => {
  it('is restarted while in use, at the same address and for all its users, of whom one closes twice', async () => {
    await putDatabase();
    const events: string[] = [];
    const [one, other] = [await open((event) => events.push(event)), await open((event) => events.push(event))];
    const before = await startTime(one.host);
    kill([await postmaster()]);
    await until(() => events.filter((event) => event === 'PostgreSQL is back.').length === 2);
    expect(await startTime(one.host)).not.toBe(before);
    await serverPids(one.host);
    await Promise.all([one.close(), one.close()]);
    expect(await startTime(other.host)).toBeDefined();
    await other.close();
  });

  it('is not restarted by a process that has closed', async () => {
    await putDatabase();
    const postgres = await open();
    const pids = await serverPids(postgres.host);
    kill(pids);
    await until(() => !pids.some(isAlive));
    await postgres.close();
    await expect(ask(postgres.host, 'SELECT')).rejects.toThrow(/ECONNREFUSED|ENOENT/);
  });

  it('blocks no other by its lock file, whoever has its process id by now', async () => {
    await putDatabase();
    const { uid } = await stat(join(data, 'postgres'));
    const sleeper = spawn('sleep', ['1000'], { stdio: 'ignore', ...(isRoot && { uid }) });
    await once(sleeper, 'spawn');
    const lock = join(data, 'postgres', 'postmaster.pid');
    await writeFile(lock, `${String(sleeper.pid)}\n${join(data, 'postgres')}\n1\n5432\n\n\n\n`, { mode: 0o600 });
    if (isRoot) await lchown(lock, uid, uid);
    const again = await open();
    expect(isAlive(sleeper.pid ?? 0)).toBe(true);
    sleeper.kill();
    await again.close();
  });

  it('is replaced only after the last of its processes has released the data', async () => {
    await putDatabase();
    const user = startUser();
    const [postmasterPid = 0, ...others] = await serverPids(await user.opened());
    kill(others, 'SIGSTOP');
    kill([user.pid, postmasterPid]);
    const next = open();
    const log = () => readFile(join(data, 'postgres.log'), 'utf8');
    await until(async () => (await log()).includes('pre-existing shared memory'));
    kill(others, 'SIGCONT');
    await (await next).close();
  });
});

describe('locations', () => {
  it('uses a private folder elsewhere if the data path is too long for a socket', async () => {
    data = join(place, 'a'.repeat(60), 'b, "c" é'.repeat(6));
    await putDatabase();
    const postgres = await open();
    expect(postgres.host).toMatch(/^\/tmp\/adoption-store-[0-9a-f]{32}\/socket$/);
    const elsewhere = dirname(postgres.host);
    for (const folder of [elsewhere, postgres.host]) expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await postgres.close();
    if (isRoot) {
      await lchown(elsewhere, somebody, somebody);
      await expect(open()).rejects.toThrow('belongs to another user');
    }
    await rm(elsewhere, { recursive: true });
  });

  it('runs from a folder that only its owner can read; for root, from a copy that only root can change', async () => {
    const platform = `${process.platform}-${process.arch}`;
    const packageName = `@embedded-postgres/${platform}`;
    const version = `18.0.0-test.${String(process.pid)}`;
    const copy = `/var/cache/adoption-store/${platform}-${version}`;
    const require = createRequire(__filename);
    const code = join(place, 'code');
    const programs = join(code, 'node_modules', packageName);
    // As npm unpacks it: without symbolic links.
    const filter = async (path: string) => !(await lstat(path)).isSymbolicLink();
    await cp(dirname(dirname(require.resolve(packageName))), programs, { recursive: true, filter });
    await writeFile(join(programs, 'package.json'), JSON.stringify({ version, main: './dist/index.js' }));
    await cp(join(built, 'dist'), join(code, 'dist'), { recursive: true });
    await cp(join(built, 'package.json'), join(code, 'package.json'));
    await symlink(dirname(require.resolve('pg/package.json')), join(code, 'node_modules', 'pg'));
    await putDatabase();
    await chmod(place, 0o700);
    try {
      const first = startUser({ code });
      expect(await first.next()).toBe(`open ${join(data, 'socket')}`);
      if (!isRoot) return;
      expect(await realpath(`/proc/${String(await postmaster())}/exe`)).toBe(join(copy, 'bin', 'postgres'));
      const paths = [copy, ...(await readdir(copy, { recursive: true })).map((name) => join(copy, name))];
      const entries = await Promise.all(paths.map((path) => lstat(path)));
      expect(entries.filter(({ uid }) => uid !== 0)).toEqual([]);
      expect(entries.filter((entry) => !entry.isSymbolicLink() && (entry.mode & 0o022) !== 0)).toEqual([]);
      await first.leave();
      await lchown(copy, somebody, somebody);
      expect(await startUser({ code }).next()).toMatch(
        'can be changed by other users: remove it, or set DATABASE_URL.',
      );
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  });
});

describe('trusts no other user:', () => {
  asRoot(
    'if root starts it, PostgreSQL has no capabilities, none of root’s groups, no way to root’s files',
    async () => {
      await putDatabase();
      const postgres = await open();
      const pids = await serverPids(postgres.host);
      expect(pids.length).toBeGreaterThan(1);
      for (const pid of pids) {
        const lines = (await readFile(`/proc/${String(pid)}/status`, 'utf8')).trim().split('\n');
        const status = Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2) as [string, string]));
        const none = '0000000000000000';
        expect(status).toMatchObject({ CapInh: none, CapPrm: none, CapEff: none, CapBnd: none, CapAmb: none });
        expect(status).toMatchObject({ Groups: '', NoNewPrivs: '1' });
        expect(status['Uid']).toBe([nobody, nobody, nobody, nobody].join('\t'));
      }
      const secret = join(place, 'only-root');
      await mkdir(secret, { mode: 0o700 });
      for (const command of [`cat > ${join(secret, 'file')}`, `ls ${data}`])
        await expect(ask(postgres.host, `COPY (SELECT 'here') TO PROGRAM '${command}'`)).rejects.toThrow('failed');
      expect(await readdir(secret)).toEqual([]);
      await postgres.close();
    },
  );

  it.each(['750', '701'])('a data folder of mode %s is refused, untouched', async (mode) => {
    await mkdir(data);
    await chmod(data, Number.parseInt(mode, 8));
    await expect(open()).rejects.toThrow(
      `The data folder ${data} can be entered or read by other users (mode ${mode}): run chmod 700 on it if nobody else has put anything there, choose another data folder, or set DATABASE_URL.`,
    );
    expect(await readdir(data)).toEqual([]);
  });

  asRoot('a data folder of another user is refused, untouched', async () => {
    await mkdir(data, { mode: 0o700 });
    await lchown(data, somebody, somebody);
    await expect(open()).rejects.toThrow(
      `The data folder ${data} belongs to user ${String(somebody)}: start as that user`,
    );
    expect(await readdir(data)).toEqual([]);
  });

  it.each(['postgres', 'socket', 'postgres.log'])('%s in the data folder is refused if it is a link', async (name) => {
    await putDatabase();
    const [there, elsewhere] = [join(data, name), join(place, 'elsewhere')];
    await rename(there, elsewhere);
    await symlink(elsewhere, there);
    await expect(open()).rejects.toThrow(there);
    await rm(there);
    await rename(elsewhere, there);
  });

  it('a database that its group can enter is refused', async () => {
    await putDatabase();
    await chmod(join(data, 'postgres'), 0o750);
    await expect(open()).rejects.toThrow('can be entered or read by other users (mode 750)');
    await chmod(join(data, 'postgres'), 0o700);
  });

  asRoot('a database, a socket’s folder or a log of another user is refused', async () => {
    await putDatabase();
    for (const name of ['postgres', 'socket', 'postgres.log']) {
      const { uid, gid } = await stat(join(data, name));
      await lchown(join(data, name), somebody, somebody);
      await expect(open()).rejects.toThrow(join(data, name));
      await lchown(join(data, name), uid, gid);
    }
  });
});

describe('reports in one sentence', () => {
  it('that the data folder can’t be made', async () => {
    await writeFile(data, '');
    data = join(data, 'folder');
    await expect(open()).rejects.toThrow(
      `The data folder ${data} can't be used (ENOTDIR): choose one that this user can write, or set DATABASE_URL.`,
    );
  });

  it('that something else is in the place of the database, or one of another PostgreSQL', async () => {
    const database = join(data, 'postgres');
    await mkdir(join(database, 'photos'), { recursive: true, mode: 0o700 });
    if (isRoot) await lchown(database, nobody, nobody);
    await expect(open()).rejects.toThrow('holds something other than a database');
    await writeFile(join(database, 'PG_VERSION'), '17\n');
    await expect(open()).rejects.toThrow('was made by PostgreSQL 17, and this service brings PostgreSQL 18');
  });
});
