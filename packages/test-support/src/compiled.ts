import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

/**
 * Process tests run compiled code. With a stale build they would test another program than the sources, so the compiler
 * is asked whether each build is current. A newer file with the same text isn't stale.
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
    // The text is the same and only the files' times differ, so the compiler updates the times of its output.
    next.done();
  }
}
