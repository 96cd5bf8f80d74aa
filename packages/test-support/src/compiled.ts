import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/**
 * The suites of processes run what was compiled. A stale build would let them pass or fail for another program than the
 * one in the sources, so the compiler itself is asked, of a workspace and those that its package.json names. Files that
 * are newer but have the same text are not stale.
 *
 * @throws Error that names the first stale project and the command to run.
 */
export function refuseStaleBuild(workspace: string, root: string): void {
  const { dependencies, devDependencies } = manifestOf(workspace);
  const others = Object.keys({ ...dependencies, ...devDependencies })
    .map((name) => join(root, 'node_modules', name))
    .filter((folder) => existsSync(folder))
    .map((folder) => realpathSync(folder))
    .filter((folder) => !folder.includes('node_modules'));
  const projects = [workspace, ...others].filter((folder) => manifestOf(folder).scripts?.['build'] !== undefined);
  const builder = ts.createSolutionBuilder(ts.createSolutionBuilderHost(ts.sys), projects, {});
  for (let next = builder.getNextInvalidatedProject(); next !== undefined; next = builder.getNextInvalidatedProject()) {
    if (next.kind === ts.InvalidatedProjectKind.Build) {
      const project = relative(root, next.project);
      throw new Error(`${project}: its sources were changed after they were compiled; run: npm run build`);
    }
    // Newer files with the same text: only the times of the output are brought up to date.
    next.done();
  }
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
