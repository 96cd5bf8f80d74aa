import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as infrastructure from '@adoption-store/infrastructure';
import { brokenFences } from './manifests.js';
import { cruise, fixtureTree, removeTrees, repository } from './trees.js';

let broken: { readonly repository: string[]; readonly clean: string[]; readonly fixture: string[] };

beforeAll(async () => {
  const [clean, fixture] = await Promise.all([fixtureTree(), fixtureTree('manifests')]);
  const { findings } = await cruise(repository, clean, fixture);
  const fencesOf = (tree: string, index: number) => brokenFences(tree, findings[index]?.imports ?? []);
  broken = { repository: fencesOf(repository, 0), clean: fencesOf(clean, 1), fixture: fencesOf(fixture, 2) };
});

afterAll(removeTrees);

describe('package.json and tsconfig.json of each workspace', () => {
  it('keep their rules', () => {
    expect(broken.repository).toEqual([]);
  });

  it('keep their rules in a clean tree', () => {
    expect(broken.clean).toEqual([]);
  });

  it('fail each rule if a fixture breaks it', () => {
    expect(broken.fixture.sort()).toEqual([
      'apps/cli has a reference to packages/config',
      'apps/cli has no reference to packages/domain',
      'apps/cli takes any ^1.0.0 of @adoption-store/domain',
      'apps/cli/src/bad.ts imports @adoption-store/config, undeclared',
      'apps/cli/src/bad.ts imports @adoption-store/infrastructure, undeclared',
      'apps/cli/src/bad.ts imports fast-check, undeclared',
      'packages/config exports ./settings',
      'packages/config exports more than one module as ./settings',
      'packages/config takes any latest of fast-check',
      'packages/domain depends on pg',
      'packages/domain depends on typeorm',
      'test/processes/bad.spec.ts imports @adoption-store/config, undeclared',
    ]);
  });
});

it('exports only the function that opens infrastructure', () => {
  expect(Object.keys(infrastructure)).toEqual(['openInfrastructure']);
});
