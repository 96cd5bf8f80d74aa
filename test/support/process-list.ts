import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Our processes with the folder in their environment, by the name of their app. */
export function servicesOf(path: string): ReadonlyMap<string, number> {
  const listed = execFileSync('ps', ['axeww', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return new Map(
    listed
      .filter((line) => line.includes(`DATA_DIR=${path}`))
      .map((line) => [/apps\/(\w+)\//.exec(line)?.[1] ?? line, Number.parseInt(line, 10)]),
  );
}

/** The processes of PostgreSQL on the folder. */
export function processesOf(path: string): number[] {
  const listed = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  const postmaster = readPid(join(path, 'postgres/postmaster.pid'));
  return listed
    .filter((line) => line.includes(path) || (postmaster !== undefined && line.trim().startsWith(`${postmaster} `)))
    .map((line) => Number.parseInt(line, 10));
}

function readPid(file: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10);
  } catch {
    return undefined;
  }
}

export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}
