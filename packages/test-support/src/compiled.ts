import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

interface Manifest {
  readonly name: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** The workspace and those that its package.json names, if they are compiled. It may be a copy, as mutation tests make it. */
export function compiledProjects(workspace: string, root: string): readonly string[] {
  const { name, dependencies, devDependencies } = manifestOf(workspace);
  return [name, ...Object.keys({ ...dependencies, ...devDependencies })]
    .map((each) => join(root, 'node_modules', each))
    .filter((folder) => existsSync(folder))
    .map((folder) => realpathSync(folder))
    .filter((folder) => !folder.includes('node_modules'))
    .filter((folder) => manifestOf(folder).scripts?.['build'] !== undefined);
}

/**
 * The first project whose build is older than its sources, with the command to run, or undefined. Asks the compiler, so
 * a newer source with the same text isn't stale.
 */
export function staleBuild(projects: readonly string[], root: string): string | undefined {
  const builder = ts.createSolutionBuilder(ts.createSolutionBuilderHost(ts.sys), projects, {});
  for (let next = builder.getNextInvalidatedProject(); next !== undefined; next = builder.getNextInvalidatedProject()) {
    if (next.kind === ts.InvalidatedProjectKind.Build) {
      const project = relative(root, next.project);
      return `${project}: its sources were changed after they were compiled; run: npm run build`;
    }
    // Only the files' times differ, not their text. This lets the compiler update the times of its output.
    next.done();
  }
  return undefined;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
