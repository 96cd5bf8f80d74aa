import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as read } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { type Finished, folderOf, temporaryFolder, until } from '@adoption-store/test-support';
import { readQuickStarts, readSamples } from '@adoption-store/web';
import { addAnimal, call, make, nameCategory, newCategoryId, portal, settingsOf } from './support/store.js';

/** Numbers of the first animal in the store, beyond 2^53. */
const [ID, CATEGORY] = ['9007199254740993', '9223372036854775807'];

interface Way {
  readonly id: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly debianPackage: string;
  /** The name of an animal in the program's output. */
  readonly luna: RegExp;
}

/** Each program is read from standard input; a module from there resolves the workspace's packages. */
const WAYS: readonly Way[] = [
  { id: 'python', program: 'python3', args: ['-'], debianPackage: 'python3', luna: /'name': 'Luna'/g },
  { id: 'typescript', program: 'node', args: ['--input-type=module'], debianPackage: 'nodejs', luna: /name: 'Luna'/g },
];

/** The program as the page shows it. */
function shownOn(html: string, id: string, part = 'program'): string {
  const [, shown = ''] = new RegExp(`<pre id="${id}-${part}"[^>]*><code>([^]*?)</code>`).exec(html) ?? [];
  const marks: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  return shown.replace(/&([\w#]+);/g, (entity, name: string) => marks[name] ?? entity);
}

it.each(readQuickStarts())(
  'the first page and the page of the quickstart show the program for $language',
  async (start) => {
    expect(start.text).toContain('API_URL');
    for (const path of ['/', '/quickstart']) {
      const { text: page } = await portal.visitor().get(path);
      expect(shownOn(page, start.id)).toBe(start.text);
      expect(page).toContain(`export API_URL=&#39;${portal.api}/v1&#39;`);
      if (start.command !== undefined) expect(page).toContain(`<code>${start.command}</code>`);
    }
  },
);

/** @param end ends it when it has printed this. */
async function runText(
  text: string,
  program: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  end?: RegExp,
  cwd = __dirname,
): Promise<Finished> {
  const child = spawn(program, args, { cwd, env: { PATH: process.env['PATH'], ...settings } });
  child.stdin.end(text);
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    if (end?.test(printed) === true) child.kill();
  });
  const [stdout, stderr] = await Promise.all([read(child.stdout), read(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

describe.each(['sh', 'bash'])('the lines for curl, in %s,', (shell) => {
  const folders = [
    folderOf('quick starts', shell === 'sh' ? 'dash' : shell, shell),
    folderOf('quick starts', 'curl', 'curl'),
  ];
  const test = folders.includes(undefined) ? it.skip : it;
  const run = (lines: string, key: string) => runText(lines, join(folders[0] ?? '', shell), [], settingsOf(key));

  test('are three: list, add, and find by the id that the second has printed', async () => {
    const { text: page } = await portal.visitor().get('/');
    const lines = shownOn(page, 'curl')
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('#'));
    expect(lines).toEqual(lines.map(() => expect.stringMatching(/^curl /)));
    const [list = '', add = '', find = '', ...more] = lines;
    expect(more).toEqual([]);
    const key = await (await portal.signedUp()).issueKey();
    expect((await run(list, key)).stdout).toMatch(new RegExp(`"id":${ID},.*"categoryId":${CATEGORY}`));
    const { stdout: added } = await run(add, key);
    const [, id = ''] = /"id":(\d+),"name":"Luna"/.exec(added) ?? [];
    expect((await run(find.replace('id=1', `id=${id}`), key)).stdout).toBe(`[${added.trim()}]\n`);
    for (const line of lines) expect((await run(line, 'aas_live_wrong')).stdout).toContain('"code":"invalid_api_key"');
  });

  test('in clients.md find an animal beyond 2^53', async () => {
    const document = readFileSync(join(__dirname, '../../api/clients.md'), 'utf8');
    const { code, stdout } = await run(
      /```sh\n(.+?)```/s.exec(document)?.[1] ?? '',
      await (await portal.signedUp()).issueKey(),
    );
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\[\{"id":\d{16},"name":"Luna"/)]);
    expect(BigInt(/\d{16}/.exec(stdout)?.[0] ?? 0)).toBeGreaterThan(BigInt(ID));
  });
});

describe.each(WAYS)('the program for $id, by $program,', ({ id, program, args, debianPackage, luna }) => {
  const folder = folderOf('quick starts', debianPackage, program);
  const test = folder === undefined ? it.skip : it;

  async function runIt(settings: Readonly<Record<string, string>>): Promise<Finished> {
    const { text: page } = await portal.visitor().get('/');
    const path = program === 'node' ? process.execPath : join(folder ?? '', program);
    return runText(shownOn(page, id), path, args, settings);
  }

  /** It stops at the failure, and says why in a few lines. */
  async function expectFailure(given: Readonly<Record<string, string>>, words: readonly RegExp[]): Promise<string> {
    const { code, stdout, stderr } = await runIt(given);
    expect(code).toBeGreaterThan(0);
    for (const each of words) expect(stderr).toMatch(each);
    expect(stderr).not.toMatch(/Traceback|^ +at /m);
    expect(stderr.split('\n').length).toBeLessThan(6);
    return stdout;
  }

  test('lists animals, adds one and finds it, exact beyond 2^53, without a deprecated call', async () => {
    const visitor = await portal.signedUp();
    const { code, stdout, stderr } = await runIt(settingsOf(await visitor.issueKey()));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const number of [ID, CATEGORY]) expect(stdout).toContain(number);
    // Added, and found.
    const ids = [...stdout.matchAll(/\bid['"]?: ?(\d+)/g)].map(([, each = '']) => each).slice(-2);
    expect(ids[0]).toBe(ids[1]);
    expect((await (await call(`/v1/pets?id=${ids[0]}`)).text()).match(/"name":"\w+"/g)).toEqual(['"name":"Luna"']);
    expect(stdout.match(luna)?.length).toBeGreaterThanOrEqual(2);
    const [, key = ''] = /<a href="\/keys\/(\d+)">/.exec((await visitor.get('/keys')).text) ?? [];
    const called = async () =>
      (await visitor.get(`/keys/${key}`)).text.match(/(?<=<th scope="row"><code>)[^<]+/g)?.toSorted() ?? [];
    // The calls of two seconds are written together, so a slow program's calls may arrive in parts.
    await until(async () => (await called()).length > 1);
    expect(await called()).toEqual(['GET /v1/pets', 'POST /v1/pets']);
  });

  test('names code, message and request id of a wrong key', async () => {
    const words = [/invalid_api_key/, /API key/i, /^request id: [\w-]{36}$/m];
    expect(await expectFailure(settingsOf('aas_live_wrong'), words)).toBe('');
  });

  const refused = { API_URL: 'http://127.0.0.1:1/v1', API_KEY: 'aas_live_wrong' };
  test.each([
    ['nothing answers', refused, /refused|connect|network_error/i],
    ['API_URL is no address', { ...refused, API_URL: 'nowhere' }, /nowhere|baseUrl/],
    ['a variable is not set', {}, /API_(URL|KEY)|baseUrl|apiKey/],
  ])('says that %s', async (_what, given, words) => {
    await expectFailure(given, [words]);
  });

  test.each(['aas_live_secret\n', 'aas_live_secret…'])('never shows a key: %j', async (key) => {
    const { code, stdout, stderr } = await runIt(settingsOf(key));
    expect(code).toBeGreaterThan(0);
    expect(stderr).not.toBe('');
    expect(stdout + stderr).not.toMatch(/secret|Traceback/);
  });
});

describe('the typed client', () => {
  const MODULES = join(__dirname, '../../../node_modules');
  const CLIENT = join(__dirname, '../../../packages/client');
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>;
  const address = `/public/adoption-store-client-${String(read(join(CLIENT, 'package.json'))['version'])}.tgz`;

  it('has the bytes for ever that versions.json says: other ones need another version', async () => {
    const file = await fetch(portal.origin + address);
    const hash = createHash('sha512').update(Buffer.from(await file.arrayBuffer()));
    expect(`sha512-${hash.digest('base64')}`).toBe(
      read(join(CLIENT, 'versions.json'))[/[\d.]+\d/.exec(address)?.[0] ?? ''],
    );
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'application/gzip']);
  });

  it.each(['0.9.0.tgz', '1.0.0', '%00'])(
    'of another version, %s, is 404 and named as the current one',
    async (version) => {
      const answer = await fetch(`${portal.origin}/public/adoption-store-client-${version}`);
      expect([answer.status, await answer.text()]).toEqual([404, `The current version is ${address}\n`]);
    },
  );

  /** A registry on this machine that has these packages alone, as they are installed here. */
  async function registryOf(names: readonly string[]) {
    const packed = await temporaryFolder();
    const folders = names.map((name) => join(MODULES, name));
    const args = ['pack', '--ignore-scripts', '--pack-destination', packed.path, ...folders];
    expect(await runText('', 'npm', args, {})).toMatchObject({ code: 0 });
    const server = createServer(({ url = '' }, response) => {
      const name = decodeURIComponent(url.slice(1));
      if (name.endsWith('.tgz')) return response.end(readFileSync(join(packed.path, name)));
      const manifest = read(join(MODULES, name, 'package.json'));
      const version = String(manifest['version']);
      const tarball = `${origin}/${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
      return response.end(JSON.stringify({ name, versions: { [version]: { ...manifest, dist: { tarball } } } }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { origin, close: () => void server.close() };
  }

  const test = folderOf('quick starts', 'curl', 'curl') === undefined ? it.skip : it;
  test('is downloaded and installed into an empty folder by the lines of the page, offline, compiles and calls the API', async () => {
    const folder = await temporaryFolder();
    const registry = await registryOf([
      '@ungap/raw-json',
      'http-link-header',
      'standardwebhooks',
      '@stablelib/base64',
      'fast-sha256',
    ]);
    const npm = {
      HOME: folder.path,
      npm_config_registry: registry.origin,
      npm_config_audit: 'false',
      npm_config_update_notifier: 'false',
    };
    const run = (program: string, args: readonly string[], text: string, settings = {}) =>
      runText(text, program, args, { ...npm, ...settings }, undefined, folder.path);
    const { text: page } = await portal.visitor().get('/quickstart');
    const installed = await run('sh', ['-e'], shownOn(page, 'typescript', 'install'));
    registry.close();
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    expect(read(join(folder.path, 'package.json'))['dependencies']).toMatchObject({
      '@adoption-store/client': `file:${address.slice('/public/'.length)}`,
    });
    const program = shownOn(page, 'typescript');
    writeFileSync(join(folder.path, 'quickstart.mts'), program);
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
    const tsc = [
      join(MODULES, 'typescript/bin/tsc'),
      ...flags,
      '--typeRoots',
      join(MODULES, '@types'),
      'quickstart.mts',
    ];
    expect(await run(process.execPath, tsc, '')).toEqual({ code: 0, stdout: '', stderr: '' });
    const called = await run(process.execPath, ['--input-type=module'], program, settingsOf());
    expect(called).toEqual({ code: 0, stdout: expect.stringMatching(/name: 'Luna'/), stderr: '' });
    await folder.remove();
  });
});

/** What the samples print. All but one end. */
const PRINTED: Readonly<Record<string, RegExp>> = {
  listPets: /\d{16}/,
  createPet: /Luna/,
  getPet: /Milo/,
  changePet: /Bella/,
  withdrawPet: /204/,
  listCategories: /Cats/,
  createCategory: /Birds/,
  getCategory: /Cats/,
  nameCategory: /Big cats/,
  deleteCategory: /204/,
  listOrders: /placed/,
  placeOrder: /cancelled/,
  getOrder: /placed/,
  completeOrder: /completed/,
  cancelOrder: /cancelled/,
  queueMessage: /queued/,
  getMessage: /queued/,
  listWebhooks: /enabled/,
  createWebhook: /whsec_/,
  getWebhook: /example\.com/,
  changeWebhook: /The website/,
  deleteWebhook: /204/,
  rotateWebhookSecret: /whsec_/,
  pingWebhook: /webhook\.ping/,
  listDeliveries: /webhook\.ping/,
  retryDelivery: /queued/,
  recoverDeliveries: /recoveringSince/,
  getRateLimit: /enterprise/,
  listEvents: /pet\.added/,
};

/** The samples in a language, with ids that exist: of what no other sample changes. */
async function samplesIn(language: string): Promise<readonly (readonly [id: string, text: string])[]> {
  const webhook = () => make('/v1/webhooks', { url: 'https://example.com' });
  const [kept, deleted] = [await webhook(), await webhook()];
  const words = {
    Birds: `Birds of ${language}`,
    'Big cats': `Big cats of ${language}`,
    msg_1: await make('/v1/messages', { message: 'Hello' }),
    dlv_1: await make(`/v1/webhooks/${kept}/ping`, {}),
  };
  const samples: (readonly [id: string, text: string])[] = [];
  for (const id of Object.keys(PRINTED)) {
    const category = newCategoryId();
    await nameCategory(category, `Cats ${category}`);
    const pet = await addAnimal('Milo', newCategoryId());
    const order = /^(get|list|complete|cancel)Order/.test(id)
      ? await make('/v1/store/orders', `{"petId":${pet}}`)
      : pet;
    const number = id.endsWith('Category') ? String(category) : order;
    const { source = '' } =
      readSamples()
        .get(id)
        ?.find(({ label }) => label === language) ?? {};
    const own = { ...words, whk_1: id === 'deleteWebhook' ? deleted : kept };
    const text = Object.entries(own).reduce((all, [word, its]) => all.replaceAll(word, its), source);
    samples.push([id, text.replace(/\b1(?=n?\b)/g, number)]);
  }
  return samples;
}

/** Programs of all samples. Each is as if it were alone, after a line with its id. */
const PROGRAMS = {
  curl: (id: string, text: string) => `echo '@@${id}'\n${text}`,
  TypeScript: (id: string, text: string) => `console.log('@@${id}');\n{\n${text.replace(/^import .*$/m, '')}\n}`,
  Python: (id: string, text: string) => `print('@@${id}', flush=True)\nexec(${JSON.stringify(text)}, {})`,
};

/** Whether Python has the package. In CI the samples fail without it. */
function hasRequests(): boolean {
  const isThere = spawnSync('python3', ['-c', 'import requests']).status === 0;
  if (!isThere) console.warn("SKIPPED: samples: Python has no requests (Debian's python3-requests has it)");
  return isThere || process.env['REQUIRE_PROGRAMS'] === '1';
}

const IMPORT = "import { AdoptionStore } from '@adoption-store/client';\n";

describe.each([
  ['curl', 'sh', []],
  ['TypeScript', process.execPath, ['--input-type=module']],
  ['Python', 'python3', ['-']],
] as const)('the samples in %s', (language, program, args) => {
  const isMissing = language === 'Python' ? !hasRequests() : folderOf('samples', 'curl', 'curl') === undefined;
  const test = isMissing ? it.skip : it;

  test('do what they say, each by itself', async () => {
    const samples = await samplesIn(language);
    const text = samples.map(([id, each]) => PROGRAMS[language](id, each)).join('\n');
    // The last one waits for further events.
    const { stdout, stderr } = await runText(
      (language === 'TypeScript' ? IMPORT : '') + text,
      program,
      args,
      settingsOf(),
      /@@listEvents\s[^]*pet\.added/,
    );
    const [, ...parts] = stdout.split(/^@@(\w+)$/m);
    const printed = samples.map((_, index) => [parts[2 * index], parts[2 * index + 1]]);
    expect({ printed, stderr }).toEqual({
      printed: Object.entries(PRINTED).map(([id, what]) => [id, expect.stringMatching(what)]),
      stderr: language === 'curl' ? expect.anything() : '',
    });
  });
});
