import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { dumpDom, findChromium, temporaryFolder } from '@adoption-store/test-support';

const DOMAIN = join(__dirname, '../../packages/domain');
const PACKAGE = 'node_modules/@adoption-store/domain';

// A program like another app of the package: every port in memory, one use case after the other.
const PROGRAM = `
  import { createApplication } from '@adoption-store/domain';
  import { inMemoryPorts } from '@adoption-store/domain/testing';
  const { addAnimal, listAnimals, openAccount, issueKey, authenticate } = createApplication(inMemoryPorts());
  await addAnimal.execute({ name: 'Luna', categoryId: 9223372036854775807n });
  const { items } = await listAnimals.execute();
  const account = await openAccount.execute({ email: 'dev@example.com' });
  const { text } = await issueKey.execute({ accountId: account.id });
  const { account: caller } = await authenticate.execute(text);
  const result = [items[0].name, items[0].categoryId, caller.email].join(' ');`;
const RESULT = 'Luna 9223372036854775807 dev@example.com';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  folder = await temporaryFolder();
  const npm = (args: string[], cwd: string) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const packed = npm(['pack', '--silent', '--pack-destination', folder.path], DOMAIN).trim();
  npm(['init', '--yes'], folder.path);
  npm(['install', '--offline', '--no-audit', join(folder.path, packed)], folder.path);
});

afterAll(() => folder.remove());

it('has no dependencies', () => {
  const installed = execFileSync('ls', [join(folder.path, 'node_modules')], { encoding: 'utf8' });
  expect(installed.trim()).toBe('@adoption-store');
});

it('runs in plain Node', () => {
  const args = ['--input-type=module', '--eval', `${PROGRAM}\nconsole.log(result);`];
  expect(execFileSync(process.execPath, args, { cwd: folder.path, encoding: 'utf8' })).toBe(`${RESULT}\n`);
});

it('runs the example of its README', () => {
  const readme = readFileSync(join(DOMAIN, 'README.md'), 'utf8');
  const example = /^```ts\n([\s\S]*?)^```/m.exec(readme)?.[1] ?? '';
  const args = ['--input-type=module', '--eval', `${example}\nconsole.log(animal.id, animal.name, animal.status);`];
  expect(execFileSync(process.execPath, args, { cwd: folder.path, encoding: 'utf8' })).toBe('1n Luna available\n');
});

const chromium = findChromium();
const inBrowser = chromium === undefined ? it.skip : it;
if (chromium === undefined) console.warn('SKIPPED: the domain in a browser, for there is no Chromium on this machine');

inBrowser('runs in a browser', async () => {
  const page = `<!doctype html><pre></pre>
    <script type="importmap">{"imports": {
      "@adoption-store/domain": "/${PACKAGE}/dist/index.js",
      "@adoption-store/domain/testing": "/${PACKAGE}/dist/testing/index.js"}}</script>
    <script type="module">${PROGRAM}\ndocument.querySelector('pre').textContent = result;</script>`;
  const server = createServer((request, response) => {
    const isScript = extname(request.url ?? '') === '.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? readFileSync(join(folder.path, request.url ?? '')) : page);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const dom = await dumpDom(chromium ?? '', `http://127.0.0.1:${port}/`);
  server.close();
  expect(dom).toContain(`<pre>${RESULT}</pre>`);
});
