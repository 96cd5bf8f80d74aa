import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@adoption-store/test-support';
import { expect, it } from '@jest/globals';

const ROOT = join(__dirname, '../..');

/** The domain's is the line of its README. The portal's build packs the client. */
const PACKING = {
  client: 'node packages/client/pack.js',
  domain: 'npm pack -w @adoption-store/domain --pack-destination',
};

it('the client and the domain, packed, run in Node by import and by require, and in Jest 30, as their READMEs show', async () => {
  const folder = await temporaryFolder();
  const modules = join(folder.path, 'node_modules');
  const run = (program: string, args: readonly string[], cwd = folder.path) => {
    const options = { cwd, encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const;
    const { status, stdout, stderr } = spawnSync(program, args, options);
    return { status, stdout, stderr };
  };
  for (const name of ['client', 'domain'] as const) {
    const readme = readFileSync(join(ROOT, 'packages', name, 'README.md'), 'utf8');
    const file = /^npm install (?:\.|\/tmp)\/(.*)/m.exec(readme)?.[1] ?? '';
    const packing = PACKING[name].split(' ');
    expect(run(packing[0] ?? '', [...packing.slice(1), folder.path], ROOT)).toMatchObject({ status: 0 });
    const place = join(modules, '@adoption-store', name);
    await mkdir(place, { recursive: true });
    expect(run('tar', ['-xzf', join(folder.path, file), '-C', place, '--strip-components=1'])).toMatchObject({
      status: 0,
    });
  }
  // What a registry would add.
  for (const name of ['@swc', '@ungap', 'http-link-header', 'standardwebhooks'])
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  const program = `
    const answer = '[{"id":9223372036854775807,"name":"Luna","categoryId":1,"status":"sold"}]';
    const options = { baseUrl: 'https://api.example/v1', apiKey: 'aas_test', fetch: async () => new Response(answer) };
    const run = async () => {
      const { id } = await new AdoptionStore(options).pets.get(1n);
      const { name } = await createApplication(inMemoryPorts(), testPolicy()).addAnimal.execute({ name: 'Luna', categoryId: 1n });
      return id + ' ' + name;
    };`;
  const names = {
    client: '{ AdoptionStore }',
    domain: '{ createApplication }',
    'domain/testing': '{ inMemoryPorts, testPolicy }',
  };
  const load = (line: (what: string, from: string) => string) =>
    Object.entries(names)
      .map(([from, what]) => line(what, `'@adoption-store/${from}'`))
      .join('\n') + program;
  const required = load((what, from) => `const ${what} = require(${from});`);
  const imported = load((what, from) => `import ${what} from ${from};`);
  for (const [type, text] of [
    ['commonjs', required],
    ['module', imported],
  ] as const) {
    const args = [`--input-type=${type}`, '--eval', `${text}\nrun().then(console.log);`];
    expect(run(process.execPath, args)).toMatchObject({ status: 0, stdout: '9223372036854775807 Luna\n' });
  }
  const example =
    /^```ts\n([\s\S]*?)^```/m.exec(readFileSync(join(ROOT, 'packages/domain/README.md'), 'utf8'))?.[1] ?? '';
  const shown = `${example}\nconsole.log(animal.id, animal.status);`;
  expect(run(process.execPath, ['--input-type=module', '--eval', shown])).toMatchObject({ stdout: '1n available\n' });
  const readme = readFileSync(join(ROOT, 'packages/client/README.md'), 'utf8');
  writeFileSync(join(folder.path, 'jest.config.js'), /^```js\n([\s\S]*?)^```/m.exec(readme)?.[1] ?? '');
  const test = `test('both', async () => { expect(await run()).toBe('9223372036854775807 Luna'); });`;
  writeFileSync(join(folder.path, 'both.test.js'), `${required}\n${test}`);
  const { status, stderr } = run(process.execPath, [join(ROOT, 'node_modules/jest/bin/jest.js')]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('1 passed') });
  await folder.remove();
});
