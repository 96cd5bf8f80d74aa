import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The Node.js programs of BENCH_NODE, such as `20,/path/to/node`. A version is downloaded, as in CI. Default: the
 * running Node.js.
 */
export function nodesAsked() {
  const asked = (process.env.BENCH_NODE ?? process.execPath).split(',');
  return asked.map((each) => {
    const program = /^\d/.test(each) ? fetched(each) : each;
    return { program, version: execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().slice(1) };
  });
}

function fetched(version) {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-store-node-'));
  const args = ['install', '--silent', '--no-save', '--prefix', folder, `node-linux-${process.arch}@${version}`];
  execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  process.once('exit', () => execFileSync('rm', ['-rf', folder]));
  return join(folder, 'node_modules', `node-linux-${process.arch}`, 'bin/node');
}
