/**
 * `node build.js [WORKSPACE...]`, from the repository's root, builds these workspaces and what they need, or all of
 * them. It prints nothing but failures, because the output belongs to the program that runs next.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { clearTimeout, setTimeout } from 'node:timers';

/** Milliseconds after which the caller is told why it waits. */
const NOTICE_AFTER = 1_500;

const filters = process.argv.slice(2).map((name) => `--filter=@adoption-store/${name}`);
const stdio = ['ignore', 'pipe', 'pipe'];
const turbo = spawn('turbo', ['run', 'build', ...filters, '--output-logs=errors-only'], { stdio });
const notice = setTimeout(() => process.stderr.write('Building what has changed …\n'), NOTICE_AFTER);
const [stdout, stderr, [code]] = await Promise.all([text(turbo.stdout), text(turbo.stderr), once(turbo, 'close')]);
clearTimeout(notice);
if (code !== 0) process.stderr.write(stdout + stderr);
process.exitCode = code ?? 1;
