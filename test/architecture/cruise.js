/**
 * `node cruise.js TREE...` checks each tree with boundaries.js and prints the findings as JSON. It is a separate
 * process, because dependency-cruiser is ESM-only and Jest runs CommonJS here.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import { rules } from './boundaries.js';

const trees = [];
for (const tree of process.argv.slice(2)) trees.push(await cruiseTree(tree));
process.stdout.write(JSON.stringify({ rules: rules.map(({ name }) => name), trees }));

async function cruiseTree(tree) {
  const workspaces = ['packages', 'apps'].flatMap((folder) =>
    readdirSync(join(tree, folder)).map((name) => join(folder, name)),
  );
  // Without dist, which repeats the sources.
  const sources = workspaces
    .flatMap((workspace) => [join(workspace, 'src'), join(workspace, 'test')])
    .filter((folder) => existsSync(join(tree, folder)));
  const check = (forbidden, more = {}) =>
    cruise(
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
  const { output } = await check(rules.filter(({ scope }) => scope !== 'folder'));
  // A spec stands beside its subject, and may use `testing`, which uses every folder.
  const folders = await check(
    rules.filter(({ scope }) => scope === 'folder'),
    { exclude: { path: String.raw`\.spec\.ts$` } },
  );
  return {
    modules: output.modules.length,
    violations: [output, folders.output].flatMap(({ summary }) =>
      summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`),
    ),
  };
}
