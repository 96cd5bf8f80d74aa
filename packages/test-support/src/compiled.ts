import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

interface Manifest {
  readonly name: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/**
 * Fails if a build is older than its sources, because process tests run the compiled code. Asks the compiler, for a
 * workspace and for those that its package.json names. A newer source with the same text isn't stale. The workspace may
 * be a copy without a build, as mutation tests make it; it runs the programs of the original.
 *
 * @throws Error that names the first stale project and the command to run.
 */
export function refuseStaleBuild(workspace: string, root: string): void {
  const { name, dependencies, devDependencies } = manifestOf(workspace);
  const projects = [name, ...Object.keys({ ...dependencies, ...devDependencies })]
    .map((each) => join(root, 'node_modules', each))
    .filter((folder) => existsSync(folder))
    .map((folder) => realpathSync(folder))
    .filter((folder) => !folder.includes('node_modules'))
    .filter((folder) => manifestOf(folder).scripts?.['build'] !== undefined);
  const builder = ts.createSolutionBuilder(ts.createSolutionBuilderHost(ts.sys), projects, {});
  for (let next = builder.getNextInvalidatedProject(); next !== undefined; next = builder.getNextInvalidatedProject()) {
    if (next.kind === ts.InvalidatedProjectKind.Build) {
      const project = relative(root, next.project);
      throw new Error(`${project}: its sources were changed after they were compiled; run: npm run build`);
    }
    // Only the files' times differ, not their text. This lets the compiler update the times of its output.
    next.done();
  }
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
