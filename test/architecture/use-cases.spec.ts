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

/** The listed use cases that no other source injects by the class or calls by the name. */
function unused(sources: ReadonlyMap<string, string>): readonly string[] {
  const others = [...sources].flatMap(([path, text]) => (path === LIST ? [] : text)).join('\n');
  return listed(sources).filter((name) => {
    const className = name.charAt(0).toUpperCase() + name.slice(1);
    return !new RegExp(
      String.raw`\b(${className}|${name}\s*\.execute|(application|useCases)\.${name})\b|\['${name}'\]`,
    ).test(others);
  });
}

describe.each(['api', 'portal', 'worker', 'cli'])('the use cases that apps/%s constructs', (app) => {
  it('are those that it serves', () => {
    const sources = sourcesOf(app);
    expect(listed(sources).length).toBeGreaterThan(3);
    expect(unused(sources)).toEqual([]);
  });
});

it('the API signs nobody up, and handles no password', () => {
  const names = listed(sourcesOf('api'));
  expect(names.filter((name) => /signUp|signIn|password|address|session/i.test(name))).toEqual([]);
});

it('finds a use case that is constructed and not served', () => {
  const list = `export const USE_CASES = ['addAnimal', 'signUp', 'getOrder'] as const;`;
  const other = 'constructor(private readonly add: AddAnimal) {} // signUp\n await useCases.getOrder.execute(id);';
  const sources = { [LIST]: list, 'other.ts': other };
  expect(unused(new Map(Object.entries(sources)))).toEqual(['signUp']);
});
