import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { useApi } from '@adoption-store/api/testing/api';
import { DAY, instant } from '@adoption-store/domain';
import { folderOf, temporaryFolder, until } from '@adoption-store/test-support';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { minifySync } from '@swc/core';
import { Webhook } from 'standardwebhooks';
import ts from 'typescript';
import { keepCopy } from '../examples/copy.js';
import { AdoptionStore, type ClientOptions, type Pet, type TryInfo } from '../src/index.js';
import { VirtualClock } from './support/virtual-clock.js';

const CLIENT = join(__dirname, '..');
const EXAMPLES = join(CLIENT, 'examples');
const read = (path: string) => readFileSync(path, 'utf8');

const MAX_INT64 = 2n ** 63n - 1n;

const api = useApi();
const storeOf = (options: ClientOptions = {}) =>
  new AdoptionStore({ baseUrl: `${api.origin}/v1`, apiKey: api.key, ...options });

/** The output of each example, in order, in a store with Bella, Luna and Milo. */
const OUTPUTS: Readonly<Record<string, RegExp>> = {
  'pages.ts': /^1 Bella\n2 Luna\n3 Milo\n$/,
  'quick-start.ts':
    /^one page: 1 Bella\none page: 2 Luna\nall pages: 1 Bella\nall pages: 2 Luna\nall pages: 3 Milo\norder 1 of animal 1 is placed\n$/,
  'orders.ts': /^409 pet_not_available: .+\nthe order is completed\nanimal 4 was adopted\n$/,
  'errors.ts': /^Luna is animal \d+\n404 not_found\n\d+ requests left, status 200\n$/,
  'messages.ts': /^"Is Luna still there\?" is queued\n$/,
};
/** Those with a test of their own. */
const OTHERS = ['copy.ts', 'events.ts', 'nightly.ts'];

describe('the examples', () => {
  // First, because they say the ids of the animals.
  it('work with the built package', async () => {
    for (const name of ['Bella', 'Luna', 'Milo'])
      await api.application.addAnimal.execute({ name, categoryId: 1n, status: 'available' });
    for (const [name, stdout] of Object.entries(OUTPUTS)) {
      const { child, printed } = start(name);
      await once(child, 'close');
      expect([name, printed]).toEqual([name, { stdout: expect.stringMatching(stdout), stderr: '' }]);
    }
  });

  it('are all tested', () => {
    expect(readdirSync(EXAMPLES).sort()).toEqual([...Object.keys(OUTPUTS), ...OTHERS].sort());
  });

  it('that follows the events tells each adoption once, however often it is stopped and started', async () => {
    const folder = await temporaryFolder();
    const env = { CURSOR_FILE: join(folder.path, 'cursor.txt') };
    const store = storeOf();
    for (const name of ['Coco', 'Rex']) {
      const { id: petId } = await store.pets.create({ name, categoryId: 1n });
      await store.orders.complete((await store.orders.create({ petId })).id);
      const { child, outputWith } = start('events.ts', env);
      expect(await outputWith(/Coco|Rex/)).not.toContain(name === 'Rex' ? 'Coco' : 'Rex');
      child.kill('SIGINT');
      expect(await once(child, 'exit')).toEqual([0, null]);
    }
    await folder.remove();
  });

  it('that catches up every night prints each event once, and ends', async () => {
    const folder = await temporaryFolder();
    const nights: string[][] = [];
    for (const name of ['Simba', 'Nala']) {
      await storeOf().pets.create({ name, categoryId: 1n });
      const { child, printed } = start('nightly.ts', { CURSOR_FILE: join(folder.path, 'cursor.txt') });
      await once(child, 'close');
      nights.push(printed.stdout.trim().split('\n'));
    }
    const [first = [], second = []] = nights;
    expect(first.length).toBeGreaterThan(1);
    expect(second).toEqual([expect.stringMatching(/ pet\.added$/)]);
    await folder.remove();
  });

  it.each(['quick-start.ts', 'copy.ts'])('%s is in the README unchanged', (name) => {
    expect(read(join(CLIENT, 'README.md'))).toContain(`\`\`\`ts\n${read(join(EXAMPLES, name))}\`\`\`\n`);
  });
});

describe.each([
  ['receiver.ts', folderOf('receivers', 'nodejs', 'node')],
  ['receiver.py', folderOf('receivers', 'python3', 'python3')],
])('the receiver of webhooks in %s', (name, folder) => {
  const test = folder === undefined ? it.skip : it;
  const [secret, other] = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [
    string,
    string,
  ];
  let receiver: ReturnType<typeof start> | undefined;
  let url: string;

  beforeAll(async () => {
    if (folder === undefined) return;
    const started = start(name, { WEBHOOK_SECRET: secret, PORT: '0' }, join(CLIENT, '../web/examples'));
    receiver = started;
    url = `http://localhost:${/port: (\d+)/.exec(await started.outputWith(/port: \d+/))?.[1]}`;
  });
  afterAll(() => {
    receiver?.child.kill();
  });

  /** The status of its answer. */
  async function send(id: string, body: string, by: readonly string[] = [secret], at = new Date()): Promise<number> {
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': by.map((each) => new Webhook(each).sign(id, at, body)).join(' '),
    };
    return (await fetch(url, { method: 'POST', headers, body })).status;
  }

  const bodyOf = (type: string, sequence: number, data: string) =>
    `{"type":"${type}","timestamp":"2026-11-21T12:00:00.000Z","sequence":${sequence},"data":${data}}`;

  test('takes what one of its signatures proves, and refuses the rest', async () => {
    const body = bodyOf('message.sent', 1, '{"id":"msg_1"}');
    expect(await send('evt_0', body, [other])).toBe(400);
    expect(await send('evt_0', body, [secret], new Date(Date.now() - 600_000))).toBe(400);
    expect((await fetch(url, { method: 'POST', body })).status).toBe(400);
    expect(receiver?.printed.stdout).not.toContain('message.sent');
    expect(await send('evt_0', body, [other, secret])).toBe(204);
    await receiver?.outputWith(/message\.sent/);
  });

  test('has each animal as its latest event has it, and does everything once, whatever comes twice and in whatever order', async () => {
    const types = ['pet.added', 'pet.changed', 'order.placed', 'pet.changed', 'pet.removed'];
    // The last of them is removed, or was changed.
    const events = [MAX_INT64, 7n, 8n].flatMap((id, animal) =>
      types
        .slice(0, 5 - animal)
        .map((type, step) => bodyOf(type, 10 * step + animal + 1, `{"id":${id},"name":"name ${step}","petId":${id}}`)),
    );
    const twice = [...events, ...events].map((body, index) => ({ body, id: `evt_${(index % events.length) + 1}` }));
    // 7 and 24 have no common divisor, so that each comes.
    for (const index of twice.keys()) {
      const { id, body } = twice[(index * 7 + 5) % twice.length] ?? { id: '', body: '' };
      expect(await send(id, body)).toBe(204);
    }
    const stdout = receiver?.printed.stdout ?? '';
    const copy = new Map([...stdout.matchAll(/^animal (\d+): (.*)$/gm)].map(([, id, name]) => [id, name]));
    expect(Object.fromEntries(copy)).toEqual({ [String(MAX_INT64)]: 'withdrawn', 7: 'name 3', 8: 'name 1' });
    expect(stdout.match(/^order\.placed$/gm)).toHaveLength(3);
  });
});

describe('the built package', () => {
  const fileOf = (name: string, from: string) =>
    name.startsWith('.')
      ? join(from, name.endsWith('.js') ? name : `${name}.js`)
      : require.resolve(name, { paths: [from] });

  /** The module and those that it needs, each minified, by their files. */
  function minified(file: string, found = new Map<string, string>()): Map<string, string> {
    if (found.has(file)) return found;
    const source = read(file);
    const module = /^(?:import|export) /m.test(source);
    found.set(file, minifySync(source, { module, compress: true, mangle: true }).code);
    for (const [, name = ''] of source.matchAll(/(?:from |require\()["']([^"']+)["']/g))
      minified(fileOf(name, dirname(file)), found);
    return found;
  }
  const kilobytes = (modules: Map<string, string>) => [...modules.values()].join('').length / 1000;

  it('is as small as the README says', () => {
    const [, client, webhooks] =
      /less than (\d+) kB.+?less than (\d+) kB more/s.exec(read(join(CLIENT, 'README.md'))) ?? [];
    const size = kilobytes(minified(join(CLIENT, 'dist/client.js')));
    expect(size).toBeLessThan(Number(client));
    expect(kilobytes(minified(join(CLIENT, 'dist/index.js'))) - size).toBeLessThan(Number(webhooks));
  });

  it.each([
    ['a browser', ['lib.es2018.d.ts', 'lib.dom.d.ts'], []],
    ['Node.js', ['lib.es2020.d.ts'], ['node']],
  ])('has types that need little of the language in %s', (_where, lib, types) => {
    const module = ts.ModuleKind.NodeNext;
    const program = ts.createProgram([join(CLIENT, 'dist/index.d.ts')], { lib, types, module, strict: true });
    const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(join(CLIENT, 'dist')));
    expect(own.length).toBeGreaterThan(10);
    const found = own.flatMap((file) => program.getSemanticDiagnostics(file));
    expect(found.map(({ messageText }) => messageText)).toEqual([]);
  });
});

/**
 * Starts the example as a separate program. Node.js 20 can't run TypeScript, and a module from stdin resolves the
 * workspace's packages.
 */
function start(example: string, more: Readonly<Record<string, string>> = {}, folder = EXAMPLES) {
  const source = read(join(folder, example));
  const isPython = example.endsWith('.py');
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  });
  const [program, argument] = isPython ? ['python3', '-'] : [process.execPath, '--input-type=module'];
  const child = spawn(program, [argument], {
    cwd: EXAMPLES,
    env: { PATH: process.env['PATH'], API_URL: `${api.origin}/v1`, API_KEY: api.key, ...more },
  });
  child.stdin.end(isPython ? source : outputText);
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => (printed[name] += chunk));
  /** What it has printed, once that matches. */
  const outputWith = async (pattern: RegExp) => {
    while (!pattern.test(printed.stdout)) await once(child.stdout, 'data');
    return printed.stdout;
  };
  return { child, printed, outputWith };
}

describe('a copy', () => {
  /** Done before the second page of the next list, when the animals of the first are read. */
  let duringList: (() => Promise<unknown>) | undefined;
  const fetchList = async (url: URL, init: RequestInit) => {
    const work = url.pathname.endsWith('/pets') && url.searchParams.has('cursor') ? duringList : undefined;
    if (work !== undefined) duringList = undefined;
    await work?.();
    return fetch(url, init);
  };
  let failed = 0;
  const onResponse = ({ status }: TryInfo) => {
    if (status === 0) failed += 1;
  };
  const copy = new Map<bigint, Pet>();
  const stop = new AbortController();
  let keeping: Promise<void>;

  beforeAll(async () => {
    await importPets(250);
    duringList = () => changeSome(0);
    keeping = keepCopy(storeOf({ clock: new VirtualClock(), onResponse, fetch: fetchList }), copy, stop.signal);
  });

  afterAll(async () => {
    stop.abort();
    await keeping;
  });

  const importPets = (count: number) =>
    api.importAnimals(Array.from({ length: count }, () => ({ name: 'Imported', categoryId: 1n })));

  /** Adds animals, changes some twice, withdraws others, and publishes that as the worker does. */
  async function changeSome(from: number): Promise<void> {
    await importPets(50);
    const ids = (await api.application.listAnimals.execute({ limit: 100 })).items.map(({ id }) => id);
    for (const id of ids.slice(from, from + 10)) {
      await api.application.changeAnimal.execute({ id, change: { name: 'Changed once' } });
      await api.application.changeAnimal.execute({ id, change: { name: 'Changed twice' } });
    }
    for (const id of ids.slice(from + 10, from + 15)) await api.application.withdrawAnimal.execute({ id });
    while ((await api.application.publishEvents.execute()).mayHaveMore);
  }

  async function restart(meanwhile: () => Promise<unknown>): Promise<void> {
    failed = 0;
    await api.restart(async () => {
      await until(() => failed > 0, { what: 'a request in vain' });
      await meanwhile();
    });
  }

  async function expectWhole(): Promise<void> {
    const writer = storeOf();
    const { id } = await writer.pets.create({ name: 'Nala', categoryId: 1n });
    await until(() => copy.has(id));
    // The list may have shown the animal. Its change comes as an event, behind all others.
    await writer.pets.change(id, { name: 'Coco' });
    await until(() => copy.get(id)?.name === 'Coco');
    const stored: Pet[] = [];
    for await (const pet of writer.pets.list()) stored.push(pet);
    expect([...copy.values()].sort((one, other) => Number(one.id - other.id))).toEqual(stored);
  }

  it('equals the store after changes during its list', async () => {
    await expectWhole();
    expect(duringList).toBeUndefined();
  });

  it('equals the store after a restart with changes', async () => {
    await restart(() => changeSome(20));
    await expectWhole();
  });

  it('equals the store after a purge of events that it has not seen', async () => {
    await restart(async () => {
      await changeSome(40);
      // The database's own clock says when an event was stored.
      api.clock.set(instant(Date.now() + 31 * DAY));
      expect(await api.application.purgeExpired.execute('events')).toBeGreaterThan(0);
      duringList = () => changeSome(60);
    });
    await expectWhole();
    expect(duringList).toBeUndefined();
  });
});
