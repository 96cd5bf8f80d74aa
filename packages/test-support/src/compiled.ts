import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

/**
 * The suites of processes run what was compiled. A stale build would let them pass or fail for another program than the
 * one in the sources, so the compiler itself is asked. Files that are newer but have the same text are not stale.
 *
 * @throws Error that names the first stale project and the command to run.
 */
export function refuseStaleBuild(root: string): void {
  const projects = ['apps', 'packages']
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
    .filter((folder) => existsSync(join(folder, 'tsconfig.json')));
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
