import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@adoption-store/test-support';
import ts from 'typescript';

export const repository = join(__dirname, '../..');

/** The packages that anybody may install. Every other workspace is private. */
export const PUBLISHED = ['client', 'domain'] as const;
export type Published = (typeof PUBLISHED)[number];

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface Compiler {
  readonly version: string;
  readonly program: string;
}

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

export function npm(folder: string, ...args: string[]): string {
  return execFileSync('npm', [...args, '--silent'], { cwd: folder, encoding: 'utf8' }).trim();
}

/** An empty folder outside of the repository, in which the packed packages are installed without a network. */
export class Stranger {
  private constructor(
    readonly path: string,
    /** The file that would be published, by package. */
    readonly files: Readonly<Record<Published, string>>,
    readonly remove: () => Promise<void>,
  ) {}

  static async arrive(): Promise<Stranger> {
    const folder = await temporaryFolder();
    const { path } = folder;
    for (const name of PUBLISHED) removeStale(join(repository, 'packages', name));
    const pack = (source: string) =>
      join(path, npm(repository, 'pack', source, '--ignore-scripts', '--pack-destination', path));
    const [client, domain] = [pack(join(repository, 'packages/client')), pack(join(repository, 'packages/domain'))];
    // The registry would send these; the repository's copies are the same files.
    const dependencies = [...dependenciesOf(join(repository, 'packages/client'))].map(pack);
    npm(path, 'init', '--yes');
    npm(path, 'install', '--offline', '--no-audit', client, domain, ...dependencies);
    return new Stranger(path, { client, domain }, () => folder.remove());
  }

  /** The folder of an installed package. */
  installed(name: Published): string {
    return join(this.path, 'node_modules/@adoption-store', name);
  }

  /** The paths of the package's files. */
  filesOf(name: Published): string[] {
    return readdirSync(this.installed(name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.installed(name).length + 1));
  }

  /**
   * Compiles the program of that name with the strictest options that a stranger may have.
   *
   * @param module `mts` for an ES module, `cts` for CommonJS.
   * @returns the compiler's errors, or '' after it has written the program.
   */
  compile(name: Published, compiler: Compiler, resolution: 'nodenext' | 'bundler', module: 'mts' | 'cts'): string {
    copyFileSync(join(__dirname, `programs/${name}.ts`), join(this.path, `${name}.${module}`));
    const compilerOptions = {
      target: 'es2022',
      // The domain needs no platform, the client only what browsers and Node.js have in common.
      lib: name === 'domain' ? ['es2022'] : ['es2022', 'dom'],
      types: [],
      module: resolution === 'bundler' ? 'es2022' : resolution,
      moduleResolution: resolution,
      outDir: join(this.path, resolution),
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
    };
    const file = join(this.path, 'tsconfig.json');
    writeFileSync(file, JSON.stringify({ compilerOptions, files: [`${name}.${module}`] }));
    const { status, stdout } = spawnSync(process.execPath, [compiler.program, '--project', file], { encoding: 'utf8' });
    return status === 0 ? '' : stdout || `status ${String(status)}`;
  }

  /** The standard output of a file, or of a program given as text. */
  run(...args: string[]): string {
    return execFileSync(process.execPath, args, { cwd: this.path, encoding: 'utf8' });
  }
}

/** A checkout that is published is fresh. In this one the compiler leaves the output of sources that were removed. */
function removeStale(folder: string): void {
  for (const entry of readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' })) {
    const [, name] = /^(.+?)(?:\.d\.ts|\.js)(?:\.map)?$/.exec(entry) ?? [];
    if (name !== undefined && !existsSync(join(folder, 'src', `${name}.ts`))) rmSync(join(folder, 'dist', entry));
  }
}

/** The folders of a package's dependencies, and of theirs. */
function dependenciesOf(folder: string, known = new Set<string>()): Set<string> {
  for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
    const found = [folder, repository].map((each) => join(each, 'node_modules', name)).find((each) => existsSync(each));
    if (found === undefined) throw new Error(`${name} is not installed`);
    if (!known.has(found)) dependenciesOf(found, known.add(found));
  }
  return known;
}

/** The repository's compiler, and those that `npm run published` has installed in COMPILERS. */
export function compilers(): Compiler[] {
  const folder = process.env['COMPILERS'];
  const installed = folder === undefined ? [] : readdirSync(folder).filter((name) => name.startsWith('typescript-'));
  return [
    { version: ts.version, program: join(repository, 'node_modules/typescript/bin/tsc') },
    ...installed.map((name) => ({
      version: name.replace('typescript-', ''),
      program: join(folder ?? '', name, 'bin/tsc'),
    })),
  ];
}

/** The names that a package's declarations export, types included. */
export function exportsOf(declarations: string): string[] {
  const program = ts.createProgram([declarations], { module: ts.ModuleKind.NodeNext, noLib: true, types: [] });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(declarations);
  const symbol = source && checker.getSymbolAtLocation(source);
  return symbol === undefined ? [] : checker.getExportsOfModule(symbol).map(({ name }) => name);
}
