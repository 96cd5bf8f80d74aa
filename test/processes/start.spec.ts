import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KEYS } from '@adoption-store/test-support';
import { expect, it } from '@jest/globals';
import { processesOf, servicesOf } from '../support/process-list.js';
import { pasteCurl, useStartedServices } from '../support/started-services.js';

const services = useStartedServices();

/** The output of the README's first call, and the output that the README shows. */
function firstCall(origin: string): readonly [printed: readonly string[], promised: readonly string[]] {
  const readme = readFileSync(join(__dirname, '../../README.md'), 'utf8');
  const example = /^## A first call\n+```sh\n([\s\S]*?)^```/m.exec(readme)?.[1] ?? '';
  const commands = example
    .replace('npm run -s keys --', `"${process.execPath}" "${KEYS}"`)
    .replaceAll('http://localhost:3000', origin)
    .replaceAll(/^curl /gm, "curl -sS -w '\\n' ");
  const env = { PATH: process.env['PATH'], DATA_DIR: services.folder };
  const printed = execFileSync('bash', ['-ec', commands], { encoding: 'utf8', env });
  return [printed.trim().split('\n'), Array.from(example.matchAll(/^# (.+)$/gm), ([, line = '']) => line)];
}

it('npm start runs API, worker and portal, which answer the README’s first call, until one Ctrl-C, even if npm sends it again', async () => {
  const { launcher, health, services: running } = await services.startAll();
  expect([...running.keys()].sort()).toEqual(['api', 'cli', 'portal', 'worker']);
  expect(pasteCurl(launcher)).toMatch(/^HTTP\/1\.1 200 OK/);
  expect((await fetch(health)).status).toBe(200);
  expect(launcher.stderr.split('\n')).toEqual([
    '',
    'The Animal Adoption Store API is ready. Ctrl-C ends it.',
    '',
    expect.stringContaining('Address'),
    expect.stringMatching(/Docs {5}http:\S+\/docs$/),
    expect.stringContaining('Metrics'),
    expect.stringContaining('API key'),
    '',
    expect.stringContaining('Try it:'),
    expect.stringContaining('curl'),
    '',
    expect.stringMatching(/^ {2}Portal {3}http:\S+$/),
    '',
    expect.stringMatching(/^The worker is ready: .* health at \S+$/),
    '',
  ]);
  const portal = /Portal {3}(\S+)/.exec(launcher.stderr)?.[1] ?? '';
  expect((await fetch(portal)).status).toBe(200);
  const [printed, promised] = firstCall(/Address {2}(\S+)\/v1/.exec(launcher.stderr)?.[1] ?? '');
  expect(promised).toHaveLength(3);
  expect(printed).toEqual(promised);
  const log = launcher.stdout.trim().split('\n');
  expect(log.filter((line) => !line.startsWith('{"level":'))).toEqual([]);
  process.kill(-(launcher.child.pid ?? 0), 'SIGINT');
  expect(await launcher.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
  expect([...servicesOf(services.folder)]).toEqual([]);
  expect(processesOf(services.folder)).toEqual([]);
});
