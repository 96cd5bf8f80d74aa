import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const cores = allowed();
/**
 * The compared service has a core of its own. PostgreSQL, Redis and the load generator share the others: on the same
 * core, their sleep would hide the service's work.
 */
const [own, ...others] = cores;
export const isHeld = others.length > 0 && spawnSync('taskset', ['--version']).error === undefined;

/** Keeps this process, and all that it starts later, off the service's core. Says so if it can't. */
export function leaveCoreToService() {
  if (isHeld) execFileSync('taskset', ['-acp', others.join(), String(process.pid)], { stdio: 'ignore' });
  else console.warn('NOT HELD TO CORES: that needs taskset and two cores. The ratios look better than they are.');
}

/** The command and arguments that start a program on the service's core. */
export function onOwnCore(program, args) {
  return isHeld ? ['taskset', ['-c', String(own), program, ...args]] : [program, args];
}

/** The cores that this process may use, such as `0-3,6` in proc(5). */
function allowed() {
  const [, list] = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'));
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
