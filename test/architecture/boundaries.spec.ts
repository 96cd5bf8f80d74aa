import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cruise, type Findings, fixtures, fixtureTree, removeTrees, repository } from './trees.js';

let rules: readonly string[];
let found: ReadonlyMap<string, Findings>;

beforeAll(async () => {
  const fixtureNames = await readdir(fixtures);
  const trees = await Promise.all(fixtureNames.map(fixtureTree));
  const outcome = await cruise(repository, ...trees);
  rules = outcome.rules;
  const names = ['repository', ...fixtureNames];
  found = new Map(outcome.findings.map((findings, index) => [names[index] ?? '', findings]));
});

afterAll(removeTrees);

it('finds no import in the repository that crosses a boundary', () => {
  expect(found.get('repository')?.violations).toEqual([]);
});

it('looks at every workspace of the repository', () => {
  const workspaces = found.get('repository')?.imports.map(({ from }) => /^(?:test|\w+\/[\w-]+)/.exec(from)?.[0]);
  expect([...new Set(workspaces)].sort()).toEqual(
    expect.arrayContaining([
      'apps/api',
      'apps/cli',
      'apps/portal',
      'apps/worker',
      'packages/client',
      'packages/config',
      'packages/domain',
      'packages/embedded-postgres',
      'packages/infrastructure',
      'packages/web',
    ]),
  );
});

describe('each rule', () => {
  it('has a fixture of its name that breaks it', async () => {
    expect(await readdir(fixtures)).toEqual(expect.arrayContaining([...rules]));
  });

  it('finds every violation of its fixture, and no other rule does', async () => {
    for (const rule of rules) {
      const broken = found.get(rule)?.violations.map(({ rule: name, from }) => `${name}: ${from}`);
      const bad = (await readdir(join(fixtures, rule), { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile() && basename(entry.name).startsWith('bad'))
        .map((entry) => `${rule}: ${join(entry.parentPath, entry.name).slice(join(fixtures, rule).length + 1)}`);
      expect(bad).not.toEqual([]);
      expect([...new Set(broken)].sort()).toEqual(bad.sort());
    }
  });

  it('accepts a clean tree', () => {
    expect(found.get('clean')?.violations).toEqual([]);
  });
});
