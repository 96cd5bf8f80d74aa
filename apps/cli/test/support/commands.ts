import { spawnSync } from 'node:child_process';
import { PassThrough, Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ACCOUNTS, ANIMALS, type Environment, type Finished, KEYS, MIGRATE } from '@adoption-store/test-support';
import { type Program, runCommand } from '../../src/command-line.js';

/** Runs a command in this process, which saves the time that a new one needs to load the code. */
export async function call(
  program: Program,
  args: readonly string[],
  environment: Environment,
  {
    stdin = Readable.from([]),
    stdout = new PassThrough(),
    stderr = new PassThrough(),
  }: { readonly stdin?: Readable; readonly stdout?: Transform; readonly stderr?: Transform } = {},
): Promise<Finished> {
  // An output that fails has no text. `text` of Node.js would leave out a byte order mark.
  const texts = Promise.all([buffer(stdout).catch(() => ''), buffer(stderr)]);
  const code = await runCommand(program, args, () => environment, { stdin, stdout, stderr });
  stdout.end();
  stderr.end();
  const [printed, complaint] = await texts;
  return { code, stdout: printed.toString(), stderr: complaint.toString() };
}

/** The rows of a printed table, by column name. */
export function rowsIn(stdout: string): readonly Readonly<Record<string, string>>[] {
  const [heads = [], ...rows] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  return rows.map((row) => Object.fromEntries(heads.map((head, column) => [head, row[column] ?? ''])));
}

/** An output that can't be written, as the kernel says it. */
export function failing(code: 'ENOSPC' | 'EPIPE'): Transform {
  const error = Object.assign(new Error(`write ${code}`), { code, syscall: 'write' });
  return new Transform({
    transform: (_chunk, _encoding, done) => {
      done(error);
    },
  });
}

/** Runs programs in a shell, which can redirect their output. */
export function inShell(command: string, url: string): Finished {
  const programs = { KEYS, ACCOUNTS, ANIMALS, MIGRATE, NODE: process.execPath };
  const env = { PATH: process.env['PATH'], ...programs, DATABASE_URL: url };
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-o', 'pipefail', '-c', command], {
    env,
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}
