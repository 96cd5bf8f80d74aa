import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Stats } from 'node:fs';
import { access, chmod, constants, lchown, lstat, mkdir, open } from 'node:fs/promises';
import { readFile, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  commandFor,
  explainFailure,
  handOver,
  locatePrograms,
  serverEnvironment,
} from './embedded-postgres-programs.js';
import type { Account, Programs } from './embedded-postgres-programs.js';

export interface Cluster {
  /** PostgreSQL's data directory. */
  readonly folder: string;
  /** PostgreSQL's postmaster.pid: there while a server runs, and after one was killed. */
  readonly lockFile: string;
  readonly log: string;
  /** A folder that only the owner may enter, which is why the server can trust whoever reaches its socket. */
  readonly socketFolder: string;
  readonly port: number;
  readonly account: Account;
  readonly programs: Programs;
}

const port = 5432;
/** Nobody, on Linux: runs a root-started cluster, in a data folder that keeps everyone but root away. */
const unprivileged = { uid: 65_534, gid: 65_534 };
/** sockaddr_un.sun_path without its final zero, in bytes: 103 on macOS, 107 on Linux (unix(7)). */
const longestSocketPath = 103;
/** Milliseconds after which an unfinished initdb, a matter of seconds, can only be a dead one's. */
const abandonedAfter = 10 * 60_000;

/**
 * Makes sure of a cluster in the folder, creating it where there is none.
 * @param durable whether a new cluster is flushed to disk before it is used.
 * @throws Error with one sentence that says what is in the way.
 */
export async function prepareCluster(dataDirectory: string, durable: boolean): Promise<Cluster> {
  const data = await namingFolder(dataDirectory, () => makeDataFolder(dataDirectory));
  // Root's own folders stay root's: what the server may enter of them it is handed.
  const account = process.getuid?.() === 0 ? unprivileged : undefined;
  const programs = await locatePrograms(account);
  return namingFolder(dataDirectory, () => prepareIn(data, programs, account, durable));
}

async function namingFolder<T>(dataDirectory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    const remedy = 'choose one that this user can write, or set DATABASE_URL';
    throw new Error(`The data folder ${dataDirectory} can't be used (${code}): ${remedy}.`, { cause: error });
  }
}

async function makeDataFolder(dataDirectory: string): Promise<string> {
  await makeFolders(dataDirectory);
  const data = await realpath(dataDirectory);
  await access(data, constants.W_OK | constants.X_OK);
  checkOwner(`The data folder ${data}`, await stat(data), process.getuid?.());
  return data;
}

/** What others could have put there can't be trusted: PostgreSQL runs commands that its configuration names. */
function checkOwner(what: string, { uid, mode }: Stats, owner: number | undefined): void {
  if (owner === undefined) return;
  const otherwise = 'choose another data folder, or set DATABASE_URL';
  if (uid !== owner) throw new Error(`${what} belongs to user ${String(uid)}: start as that user, ${otherwise}.`);
  if ((mode & 0o077) === 0) return;
  const open = `can be entered or read by other users (mode ${(mode & 0o777).toString(8)})`;
  throw new Error(`${what} ${open}: run chmod 700 on it if nobody else has put anything there, ${otherwise}.`);
}

/** As mkdir's `recursive`, which in Node never ends where the parent is there but can't hold folders, as /proc. */
async function makeFolders(folder: string): Promise<void> {
  if ((await unlessMissing(stat(folder))) !== undefined) return;
  if (dirname(folder) !== folder) await makeFolders(dirname(folder));
  await mkdir(folder, { mode: 0o700 }).catch(unlessCode('EEXIST'));
}

async function prepareIn(data: string, programs: Programs, account: Account, durable: boolean): Promise<Cluster> {
  const folder = join(data, 'postgres');
  await removeAbandoned(folder);
  if ((await unlessMissing(lstat(folder))) === undefined) await createCluster(folder, programs, account, durable);
  const found = await lstat(folder);
  if (!found.isDirectory()) throw new Error(`${folder} is no folder: move it away, or set DATABASE_URL.`);
  checkOwner(`The database in ${folder}`, found, account?.uid ?? process.getuid?.());
  await checkVersion(folder, programs);
  const socketFolder = await makeSocketFolder(data, account);
  const lockFile = join(folder, 'postmaster.pid');
  return { folder, lockFile, log: join(data, 'postgres.log'), socketFolder, port, account, programs };
}

async function versionOf(folder: string): Promise<string | undefined> {
  return (await unlessMissing(readFile(join(folder, 'PG_VERSION'), 'utf8')))?.trim();
}

async function checkVersion(folder: string, programs: Programs): Promise<void> {
  const version = await versionOf(folder);
  if (version === programs.major) return;
  const found = version === undefined ? 'holds something else than a database' : `was made by PostgreSQL ${version}`;
  throw new Error(
    `${folder} ${found}, and this service brings PostgreSQL ${programs.major}: move it away, or set DATABASE_URL.`,
  );
}

/** A cluster appears whole or not at all: made aside, then renamed. Of two first starts the slower discards its own. */
async function createCluster(folder: string, programs: Programs, account: Account, durable: boolean): Promise<void> {
  const draft = `${folder}.initdb-${randomUUID()}`;
  try {
    await mkdir(draft, { mode: 0o700 });
    if (account !== undefined) await lchown(draft, account.uid, account.gid);
    await initialize(draft, programs, account, durable);
    await rename(draft, folder);
    await flush(dirname(folder));
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function initialize(draft: string, programs: Programs, account: Account, durable: boolean): Promise<void> {
  // The builtin provider sorts and folds case alike on every machine, whatever locales that machine has.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const trust = ['--username=postgres', '--auth-local=trust', '--auth-host=reject'];
  const { paths, descriptors, close } = await handOver(account, [draft]);
  const options = ['--pgdata', ...paths, ...locale, ...trust, ...(durable ? [] : ['--no-sync'])];
  const [command, args] = commandFor(account, programs.initdb, options);
  try {
    const stdio = ['ignore' as const, 'ignore' as const, 'pipe' as const, ...descriptors];
    const child = spawn(command, args, { cwd: '/', env: serverEnvironment, stdio });
    const said = child.stderr === null ? '' : text(child.stderr);
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw explainFailure('initdb', undefined, await said);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : explainFailure('initdb', error, '');
  } finally {
    await close();
  }
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(dirname(folder))) {
    if (!name.startsWith(`${basename(folder)}.initdb-`)) continue;
    const draft = join(dirname(folder), name);
    const found = await unlessMissing(stat(draft));
    if (found === undefined || Date.now() - found.mtimeMs < abandonedAfter) continue;
    // What can't be removed takes space and does no other harm.
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** The folder is the server's, in one that only the caller may enter: nobody else reaches the socket. */
async function makeSocketFolder(data: string, account: Account): Promise<string> {
  const near = join(data, 'socket');
  const isNear = Buffer.byteLength(join(near, `.s.PGSQL.${String(port)}`)) <= longestSocketPath;
  const folder = isNear ? near : join(await makeFolderElsewhere(data), 'socket');
  await makePrivateFolder(folder, account);
  return folder;
}

async function makeFolderElsewhere(data: string): Promise<string> {
  // Not os.tmpdir(): processes with another TMPDIR would never meet. PostgreSQL's own default is /tmp, too.
  const folder = join('/tmp', `adoption-store-${createHash('sha256').update(data).digest('hex').slice(0, 32)}`);
  await makePrivateFolder(folder, undefined);
  return folder;
}

async function makePrivateFolder(folder: string, account: Account): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch(unlessCode('EEXIST'));
  const [found, caller] = [await lstat(folder), process.getuid?.()];
  if (!found.isDirectory() || (caller !== undefined && found.uid !== caller && found.uid !== account?.uid)) {
    throw new Error(`${folder} should be this user's private folder and was made by someone else: remove it.`);
  }
  if ((found.mode & 0o777) !== 0o700) await chmod(folder, 0o700);
  if (account !== undefined && found.uid !== account.uid) await lchown(folder, account.uid, account.gid);
}

async function flush(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** Resolves to undefined where there is no such file. */
export async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  return result.catch(unlessCode('ENOENT'));
}

function unlessCode(code: string): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (error.code !== code) throw error;
    return undefined;
  };
}
