import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const FOLDERS = [
  ...(process.env['PATH'] ?? '').split(delimiter),
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/opt/homebrew/bin',
];

/** Debian keeps PostgreSQL's programs off the PATH, one folder per version. */
const POSTGRES = '/usr/lib/postgresql';
const postgresFolders = existsSync(POSTGRES)
  ? readdirSync(POSTGRES).map((version) => join(POSTGRES, version, 'bin'))
  : [];

/**
 * The folder with all of these programs. They are installed on the system, not by npm.
 *
 * @returns undefined, with a warning, if there is none.
 * @throws Error if there is none and REQUIRE_PROGRAMS is set, as in CI.
 */
export function folderOf(suite: string, debianPackage: string, ...programs: readonly string[]): string | undefined {
  const found = [...FOLDERS, ...postgresFolders].find((folder) =>
    programs.every((program) => existsSync(join(folder, program))),
  );
  if (found !== undefined) return found;
  const reason = `${suite}: there is no ${programs.join(', ')} (Debian's ${debianPackage} has it)`;
  if (process.env['REQUIRE_PROGRAMS'] === '1') throw new Error(reason);
  console.warn(`SKIPPED: ${reason}`);
  return undefined;
}
