import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const domain = join(__dirname, '../../packages/domain');
const read = (path: string) => readFileSync(join(domain, path), 'utf8');

/** A row of the table: `file`: `function`, `function` | `spec`. */
const ROW = /^\|[^|]+\| `([\w/-]+\.ts)`: ([\w`, ]+?) +\| `([\w/-]+\.spec\.ts)` +\|$/gm;
const rules = [...read('README.md').matchAll(ROW)].flatMap(([, file = '', names = '', spec = '']) =>
  [...names.matchAll(/\w+/g)].map(([name]) => ({ file, name, spec })),
);

it('the map of the rules names functions that their files export, and specs that use them', () => {
  expect(rules.filter(({ file, name }) => !exportsOf(file).includes(name))).toEqual([]);
  expect(rules.filter(({ name, spec }) => !new RegExp(`\\b${name}\\b`).test(read(`src/${spec}`)))).toEqual([]);
});

it('the map of the rules has every decide function of the domain', () => {
  const files = readdirSync(join(domain, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^(?!testing).*(?<!\.spec)\.ts$/.test(path),
  );
  const decisions = files.flatMap((file) => exportsOf(file).map((name) => ({ file, name })));
  const named = rules.map(({ file, name }) => `${file} ${name}`);
  const unnamed = decisions.filter(({ file, name }) => name.startsWith('decide') && !named.includes(`${file} ${name}`));
  expect(unnamed).toEqual([]);
});

/** The functions that a file of the domain exports. */
function exportsOf(file: string): readonly string[] {
  return Array.from(read(`src/${file}`).matchAll(/^export (?:async )?function (\w+)/gm), ([, name = '']) => name);
}
