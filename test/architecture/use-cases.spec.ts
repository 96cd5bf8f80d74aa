import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const apps = join(__dirname, '../../apps');
const LIST = 'use-cases.ts';

/** The sources of an app by their paths, tests aside. */
function sourcesOf(app: string): ReadonlyMap<string, string> {
  const folder = join(apps, app, 'src');
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(?<!\.spec)\.ts$/.test(path),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

/** The use cases that an app lists. */
function listed(sources: ReadonlyMap<string, string>): readonly string[] {
  return Array.from(sources.get(LIST)?.matchAll(/'([a-z]\w+)'/g) ?? [], ([, name = '']) => name);
}

/** The listed use cases that no other source names, comments aside. */
function unused(sources: ReadonlyMap<string, string>): readonly string[] {
  const others = [...sources].flatMap(([path, text]) => (path === LIST ? [] : text)).join('\n');
  const code = others.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, '');
  return listed(sources).filter((name) => !new RegExp(`\\b${name}\\b`).test(code));
}

// Besides those, the API and the portal construct the use cases that their handlers and guards take.
describe.each(['api', 'portal', 'worker', 'cli'])('the use cases that apps/%s lists', (app) => {
  it('are those that it serves', () => {
    const sources = sourcesOf(app);
    expect(listed(sources).length).toBeGreaterThan(3);
    expect(unused(sources)).toEqual([]);
  });
});

it('the API signs nobody up, and handles no password', () => {
  const lists = ['accounts/holder-use-cases.ts', 'sessions/use-cases.ts'].map((file) =>
    readFileSync(join(apps, '../packages/domain/src', file), 'utf8'),
  );
  const found = lists.flatMap((text) => [...text.matchAll(/^export (?:class (\w+)|\* from '\.\/([a-z-]+)\.js')/gm)]);
  // The file sign-up.ts has the class SignUp.
  const names = found.map(([, name, file = '']) => name ?? file.replaceAll('-', ''));
  expect(names.length).toBeGreaterThan(10);
  const code = [...sourcesOf('api').values()].join('\n');
  expect(names.filter((name) => new RegExp(`\\b${name}\\b`, 'i').test(code))).toEqual([]);
});

it('finds a use case that is constructed and not served', () => {
  const list = `export const USE_CASES = ['addAnimal', 'signUp', 'getOrder'] as const;`;
  const other = 'await addAnimal.execute(animal); // signUp\n await useCases.getOrder.execute(id);';
  const sources = { [LIST]: list, 'other.ts': other };
  expect(unused(new Map(Object.entries(sources)))).toEqual(['signUp']);
});
