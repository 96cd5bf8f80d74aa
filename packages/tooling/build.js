/**
 * `node build.js [WORKSPACE...]`, from the repository's root, builds these workspaces and what they need, or all of
 * them. It prints nothing but a failure, because the program that runs next has its own words to print, and it starts
 * Turbo only where a file was changed since the last build.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { clearTimeout, setTimeout } from 'node:timers';

/** Milliseconds after which the caller is told why it waits. */
const NOTICE_AFTER = 1_500;

const SOURCES = ['apps', 'packages', 'package-lock.json', 'package.json', 'tsconfig.base.json', 'turbo.json'];
const MADE = new Set(['node_modules', 'dist', 'coverage', '.turbo']);

const workspaces = process.argv.slice(2);
// `npm ci` removes it, as it should: other dependencies may need another build.
const stamp = join('node_modules/.cache/adoption-store', ['build', ...workspaces].join('-'));

if (isStale()) await build();

/** Whether a source was changed, added, moved or removed since the last build began. */
function isStale() {
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs;
  return built === undefined || SOURCES.some((path) => changedAt(path) >= built);
}

/** The time of the latest change. ctime, as no program can set it; a folder's changes with the names in it. */
function changedAt(path) {
  const entry = lstatSync(path);
  if (!entry.isDirectory()) return entry.ctimeMs;
  const names = readdirSync(path).filter((name) => !MADE.has(name));
  return Math.max(entry.ctimeMs, ...names.map((name) => changedAt(join(path, name))));
}

async function build() {
  // The time of the beginning: a source that changes while it is compiled is compiled again.
  const begun = new Date();
  const filters = workspaces.map((name) => `--filter=@adoption-store/${name}`);
  const stdio = ['ignore', 'pipe', 'pipe'];
  const turbo = spawn('turbo', ['run', 'build', ...filters, '--output-logs=errors-only'], { stdio });
  const notice = setTimeout(() => process.stderr.write('Building what has changed …\n'), NOTICE_AFTER);
  const [stdout, stderr, [code]] = await Promise.all([text(turbo.stdout), text(turbo.stderr), once(turbo, 'close')]);
  clearTimeout(notice);
  if (code !== 0) {
    process.stderr.write(stdout + stderr);
    process.exitCode = code ?? 1;
    return;
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, '');
  utimesSync(stamp, begun, begun);
}
