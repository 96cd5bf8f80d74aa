import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export const repository = join(__dirname, '../..');
export const fixtures = join(__dirname, 'fixtures');

// Nothing of these packages is run, so an empty package is enough for each import of a fixture.
const NPM_PACKAGES = ['@jest/globals', '@nestjs/common', 'fast-check', 'ioredis', 'pg', 'typeorm'];

let temporary: string[] = [];

/**
 * The small clean tree of `fixtures/clean` with another fixture copied over it, installed and built like a real
 * repository. The repository can't store such a tree, because it ignores node_modules and dist.
 */
export async function fixtureTree(fixture = 'clean'): Promise<string> {
  const tree = await realpath(await mkdtemp(join(tmpdir(), 'architecture-')));
  temporary.push(tree);
  await cp(join(fixtures, 'clean'), tree, { recursive: true });
  await cp(join(fixtures, fixture), tree, { recursive: true });
  for (const name of NPM_PACKAGES) {
    await write(join(tree, 'node_modules', name, 'package.json'), JSON.stringify({ name, main: 'index.js' }));
    await write(join(tree, 'node_modules', name, 'index.js'), '');
  }
  await mkdir(join(tree, 'node_modules/@adoption-store'));
  for (const folder of ['packages', 'apps'])
    for (const name of await readdir(join(tree, folder))) {
      await symlink(join(tree, folder, name), join(tree, 'node_modules/@adoption-store', name));
      await write(join(tree, folder, name, 'dist/index.js'), '');
    }
  return tree;
}

export async function removeTrees(): Promise<void> {
  await Promise.all(temporary.map((tree) => rm(tree, { recursive: true })));
  temporary = [];
}

export interface Import {
  /** The file, relative to the tree. */
  readonly from: string;
  /** The module name in the import. */
  readonly module: string;
  readonly isBuiltin: boolean;
}

export interface Findings {
  readonly violations: readonly { readonly rule: string; readonly from: string; readonly to: string }[];
  readonly imports: readonly Import[];
}

/** dependency-cruiser's findings in each tree, and the names of all its rules. */
export async function cruise(...trees: string[]): Promise<{ rules: readonly string[]; findings: readonly Findings[] }> {
  return JSON.parse(await run(process.execPath, [join(__dirname, 'cruise.js'), ...trees], repository)) as Awaited<
    ReturnType<typeof cruise>
  >;
}

/**
 * The output of a program. Programs with findings also exit with an error code, so only an empty output is a failure.
 */
export async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (stdout === '') reject(new Error(`${args.join(' ')} printed nothing. ${stderr}`, { cause: error }));
      else resolve(stdout);
    });
  });
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
