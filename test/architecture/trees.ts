import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export const repository = join(__dirname, '../..');
export const fixtures = join(__dirname, 'fixtures');

// Nothing of them is run, so an empty one does for each that a fixture imports.
const NPM_PACKAGES = ['@jest/globals', '@nestjs/common', 'fast-check', 'ioredis', 'pg', 'typeorm'];

let temporary: string[] = [];

/**
 * The small but clean tree of `fixtures/clean` with another fixture laid over it: installed and built, as a repository
 * is. That can't be kept in the repository itself, where node_modules and dist are ignored.
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
  /** As the file names it. */
  readonly module: string;
  readonly isBuiltin: boolean;
}

export interface Findings {
  readonly violations: readonly { readonly rule: string; readonly from: string; readonly to: string }[];
  readonly imports: readonly Import[];
}

/** What dependency-cruiser finds in each of the trees, and the names of all the rules it looks for. */
export async function cruise(...trees: string[]): Promise<{ rules: readonly string[]; findings: readonly Findings[] }> {
  return JSON.parse(await run(process.execPath, [join(__dirname, 'cruise.js'), ...trees], repository)) as Awaited<
    ReturnType<typeof cruise>
  >;
}

/** What a program prints. One that finds fault says so by its exit code, too: only printing nothing is a failure. */
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
