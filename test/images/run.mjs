import { spawnSync } from 'node:child_process';

/** Runs a program and returns its output. Its failure, with its last lines, is an error. */
export function run(program, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 100e6,
    ...options,
  });
  if (status === 0) return stdout;
  const last = `${stdout ?? ''}${stderr ?? ''}`.split('\n').slice(-40).join('\n');
  throw new Error(`${program} ${args.join(' ')} has ended with ${status}\n${error ?? last}`);
}
