import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { access, chmod, constants, lchown, lstat, mkdir, open } from 'node:fs/promises';
import { readFile, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { commandFor, explainFailure, locatePrograms, serverEnvironment } from './embedded-postgres-programs.js';
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
/** Nobody, on Linux: owns a root-started cluster, whose folders keep everyone but root away. */
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
  const programs = await locatePrograms();
  return namingFolder(dataDirectory, () => prepareIn(data, programs, durable));
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
  return data;
}

/** As mkdir's `recursive`, which in Node never ends where the parent is there but can't hold folders, as /proc. */
async function makeFolders(folder: string): Promise<void> {
  if ((await unlessMissing(stat(folder))) !== undefined) return;
  if (dirname(folder) !== folder) await makeFolders(dirname(folder));
  await mkdir(folder, { mode: 0o700 }).catch(unlessCode('EEXIST'));
}

async function prepareIn(data: string, programs: Programs, durable: boolean): Promise<Cluster> {
  const folder = join(data, 'postgres');
  await removeAbandoned(folder);
  const creator = await accountFor(folder);
  if ((await versionOf(folder)) === undefined) await createCluster(folder, programs, creator, durable);
  const account = await accountFor(folder);
  await checkVersion(folder, programs);
  if (account !== undefined && (await stat(folder)).uid !== account.uid) await giveTree(folder, account);
  const socketFolder = await makeSocketFolder(data, account);
  const lockFile = join(folder, 'postmaster.pid');
  return { folder, lockFile, log: join(data, 'postgres.log'), socketFolder, port, account, programs };
}

async function accountFor(folder: string): Promise<Account> {
  const caller = process.getuid?.();
  const owner = await unlessMissing(stat(folder));
  if (caller === 0) return owner !== undefined && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : unprivileged;
  if (owner === undefined || owner.uid === caller) return undefined;
  throw new Error(
    `The database in ${folder} belongs to user ${String(owner.uid)}: start as that user, choose another data folder, or set DATABASE_URL.`,
  );
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
  const options = ['--pgdata', draft, ...locale, ...trust, ...(durable ? [] : ['--no-sync'])];
  const [command, args] = commandFor(account, programs.initdb, options);
  try {
    await promisify(execFile)(command, args, { cwd: '/', env: serverEnvironment });
  } catch (error) {
    throw explainFailure('initdb', error, (error as { stderr?: string }).stderr ?? '');
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

async function makeSocketFolder(data: string, account: Account): Promise<string> {
  const folder = chooseSocketFolder(data);
  // Root's own servers keep a socket that nobody else, not even the user nobody, can reach.
  const owner = account === undefined || account.uid === unprivileged.uid ? process.getuid?.() : account.uid;
  await mkdir(folder, { mode: 0o700 }).catch(unlessCode('EEXIST'));
  const found = await lstat(folder);
  if (found.isDirectory() && found.uid === 0 && account !== undefined && owner !== undefined) {
    await lchown(folder, owner, owner === 0 ? 0 : account.gid);
  } else if (!found.isDirectory() || found.uid !== owner) {
    throw new Error(`${folder} should be this user's private folder and was made by someone else: remove it.`);
  }
  if ((found.mode & 0o777) !== 0o700) await chmod(folder, 0o700);
  return folder;
}

function chooseSocketFolder(data: string): string {
  const near = join(data, 'socket');
  if (Buffer.byteLength(join(near, `.s.PGSQL.${String(port)}`)) <= longestSocketPath) return near;
  // Not os.tmpdir(): processes with another TMPDIR would never meet. PostgreSQL's own default is /tmp, too.
  return join('/tmp', `adoption-store-${createHash('sha256').update(data).digest('hex').slice(0, 32)}`);
}

/** The folder itself comes last, so that a walk cut short is done again. */
async function giveTree(folder: string, account: NonNullable<Account>): Promise<void> {
  const entries = await readdir(folder, { recursive: true });
  for (const entry of entries) await lchown(join(folder, entry), account.uid, account.gid);
  await lchown(folder, account.uid, account.gid);
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
