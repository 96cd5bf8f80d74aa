import { createHash } from 'node:crypto';
import { existsSync, lstatSync, type Stats } from 'node:fs';
import fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkIsOurs, findPrograms, makeWhole, type Programs, refusal, start } from './programs.js';

export interface Cluster {
  /** PostgreSQL's data directory. */
  readonly folder: string;
  readonly log: string;
  /** Only its owner can enter it, so the server trusts every connection to its socket. */
  readonly socketFolder: string;
  readonly programs: Programs;
}

export const PORT = 5432;
/** Longest sockaddr_un.sun_path without its final zero byte: 103 on macOS, 107 on Linux (unix(7)). */
const LONGEST_SOCKET_PATH = 103;

/**
 * Checks the cluster in the folder, and creates it if there is none.
 *
 * @param isDurable whether a new cluster is flushed to disk before it is used.
 * @throws Error with one sentence that names the obstacle.
 */
export async function prepareCluster(dataDirectory: string, isDurable: boolean): Promise<Cluster> {
  const programs = await findPrograms();
  try {
    const data = await makeDataFolder(dataDirectory);
    const socketFolder = await makeSocketFolder(data, programs);
    const cluster = { folder: join(data, 'postgres'), log: join(data, 'postgres.log'), socketFolder, programs };
    if (lstatSync(cluster.folder, { throwIfNoEntry: false }) === undefined) await createCluster(cluster, isDurable);
    await checkCluster(cluster);
    return cluster;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    const what = `The data folder ${dataDirectory} can't be used (${String(code)})`;
    throw refusal(what, 'choose one that this user can write', error);
  }
}

async function makeDataFolder(dataDirectory: string): Promise<string> {
  await makeFolders(dataDirectory);
  const data = await fs.realpath(dataDirectory);
  await fs.access(data, fs.constants.W_OK | fs.constants.X_OK);
  checkIsPrivate(`The data folder ${data}`, await fs.stat(data), process.getuid?.());
  return data;
}

/** Replaces mkdir's `recursive`, which never returns in Node if the parent can't hold folders, such as /proc. */
async function makeFolders(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  await makeFolders(dirname(folder));
  await makeFolder(folder);
}

async function makeFolder(folder: string): Promise<void> {
  await fs.mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
}

/** PostgreSQL runs commands named in its configuration, so no other user may be able to write it. */
function checkIsPrivate(what: string, { uid, mode }: Stats, owner: number | undefined): void {
  if (uid !== owner) throw refusal(`${what} belongs to user ${uid}`, 'start as that user, choose another data folder');
  if ((mode & 0o077) === 0) return;
  const remedy = 'run chmod 700 on it if nobody else has put anything there, choose another data folder';
  throw refusal(`${what} can be entered or read by other users (mode ${(mode & 0o777).toString(8)})`, remedy);
}

async function checkCluster({ folder, programs: { major, account } }: Cluster): Promise<void> {
  const found = await fs.lstat(folder);
  if (!found.isDirectory()) throw refusal(`${folder} is not a folder`, 'move it away');
  checkIsPrivate(`The database in ${folder}`, found, account ?? process.getuid?.());
  const file = join(folder, 'PG_VERSION');
  const version = existsSync(file) ? (await fs.readFile(file, 'utf8')).trim() : undefined;
  if (version === major) return;
  const what = version === undefined ? 'holds something other than a database' : `was made by PostgreSQL ${version}`;
  throw refusal(`${folder} ${what}, and this service brings PostgreSQL ${major}`, 'move it away');
}

async function createCluster({ folder, log, programs }: Cluster, isDurable: boolean): Promise<void> {
  const options = ['--username=postgres', '--auth-local=trust', '--auth-host=reject', ...(isDurable ? [] : ['-N'])];
  // The builtin provider sorts and folds case in the same way on every machine, whatever its locales.
  options.push('--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8');
  await makeWhole(folder, async (draft) => {
    await makePrivateFolder(draft, programs.account);
    const args = ([path = '']: readonly string[]) => ['--pgdata', path, ...options];
    const initdb = start(programs, { program: 'initdb', log, folders: [draft], args });
    const failure = await initdb.failure();
    if (failure !== undefined) throw failure;
  });
  const parent = await fs.open(dirname(folder));
  await parent.sync().finally(() => parent.close());
}

/** The socket folder is in the data folder, or in a private folder elsewhere if the socket's path would be too long. */
async function makeSocketFolder(data: string, { account }: Programs): Promise<string> {
  const near = join(data, 'socket');
  if (Buffer.byteLength(join(near, `.s.PGSQL.${PORT}`)) <= LONGEST_SOCKET_PATH) return makePrivateFolder(near, account);
  // Not os.tmpdir(): processes with different TMPDIRs would not find the same server.
  const elsewhere = `/tmp/adoption-store-${createHash('sha256').update(data).digest('hex').slice(0, 32)}`;
  return makePrivateFolder(join(await makePrivateFolder(elsewhere), 'socket'), account);
}

async function makePrivateFolder(folder: string, account?: number): Promise<string> {
  await makeFolder(folder);
  checkIsOurs(folder, account);
  await fs.chmod(folder, 0o700);
  if (account !== undefined) await fs.chown(folder, account, account);
  return folder;
}
