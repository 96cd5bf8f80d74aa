/**
 * `node cruise.js REPOSITORY` checks it with boundaries.js and prints the findings as JSON. It is a separate process,
 * because dependency-cruiser is ESM-only and Jest runs CommonJS here.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import { rules } from './boundaries.js';

const tree = process.argv[2];
const workspaces = ['packages', 'apps'].flatMap((folder) =>
  readdirSync(join(tree, folder)).map((name) => join(folder, name)),
);
// Without dist, which repeats the sources.
const sources = workspaces
  .flatMap((workspace) => [join(workspace, 'src'), join(workspace, 'test')])
  .filter((folder) => existsSync(join(tree, folder)));

const { output } = await check(rules.filter(({ scope }) => scope !== 'folder'));
// A spec stands beside its subject, and may use `testing`, which uses every folder.
const folders = await check(
  rules.filter(({ scope }) => scope === 'folder'),
  { exclude: { path: String.raw`\.spec\.ts$` } },
);
const violations = [output, folders.output].flatMap(({ summary }) =>
  summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`),
);
process.stdout.write(JSON.stringify({ modules: output.modules.length, violations }));

function check(forbidden, more = {}) {
  return cruise(
    [...sources, 'test'],
    {
      baseDir: tree,
      ruleSet: { forbidden: forbidden.map((rule) => ({ severity: 'error', ...rule })) },
      validate: true,
      // A type import is a dependency too.
      tsPreCompilationDeps: true,
      doNotFollow: { path: '(^|/)(node_modules|dist)/' },
      ...more,
    },
    // Resolves like the compiler and Jest: the workspaces' sources, through npm's links.
    { conditionNames: ['@adoption-store/source', 'types', 'import', 'node', 'default'], exportsFields: ['exports'] },
  );
}
