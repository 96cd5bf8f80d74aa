/**
 * `npm run published` checks the packages as they would be published, with every compiler that they promise to work with:
 * the suite of this folder, and attw, which resolves their types as each compiler would.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const COMPILERS = [
  '4.9.5',
  '5.0.4',
  '5.1.6',
  '5.2.2',
  '5.3.3',
  '5.4.5',
  '5.5.4',
  '5.6.3',
  '5.7.3',
  '5.8.3',
  '5.9.3',
  '7.0.2',
];
const ATTW = '@arethetypeswrong/cli@0.18.5';
const PACKAGES = ['client', 'domain'];

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'published-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

writeFileSync(join(folder, 'package.json'), '{}');
const compilers = COMPILERS.map((version) => `typescript-${version}@npm:typescript@${version}`);
run('npm', ['install', '--silent', '--no-audit', '--ignore-scripts', ...compilers, ATTW], folder);

for (const name of PACKAGES) {
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], join(root, 'packages', name));
  const file = readdirSync(folder).find((each) => each.startsWith(`adoption-store-${name}-`));
  // Only ES modules: it doesn't check how CommonJS of before Node.js 20.19 would resolve them.
  run(join(folder, 'node_modules/.bin/attw'), [join(folder, file), '--profile', 'esm-only', '--no-emoji'], folder);
}

await printSize();
run('npx', ['jest', 'published/', '--verbose'], join(root, 'test'), { COMPILERS: join(folder, 'node_modules') });

/** Prints the client's size, with its dependencies. */
async function printSize() {
  const { build } = await import('esbuild');
  const entry = { contents: `export * from '@adoption-store/client';`, resolveDir: join(root, 'test') };
  const { outputFiles } = await build({ stdin: entry, bundle: true, minify: true, format: 'esm', write: false });
  const { contents } = outputFiles[0];
  console.log(
    `The client, minified with its dependencies: ${contents.length} bytes, ${gzipSync(contents).length} gzipped`,
  );
}

/** Ends this process if the program fails. */
function run(program, args, cwd, environment = {}) {
  const { status } = spawnSync(program, args, { cwd, env: { ...process.env, ...environment }, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
