import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/sbin', '/usr/local/bin'];

/** Debian keeps PostgreSQL's programs off the PATH, a folder for each version. */
const POSTGRES = '/usr/lib/postgresql';
const postgresFolders = existsSync(POSTGRES)
  ? readdirSync(POSTGRES).map((version) => join(POSTGRES, version, 'bin'))
  : [];

/**
 * The folder that has all of these programs, which aren't ours and don't come with npm.
 *
 * @returns undefined, having said so, where there is none.
 * @throws Error where there is none and REQUIRE_PROGRAMS, which CI sets, says that there must be.
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
